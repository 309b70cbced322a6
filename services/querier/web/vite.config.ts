// SPDX-License-Identifier: Apache-2.0
import { loadEnv } from "vite";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the sources and proxies /api to a running querier: DECIMA_URL, as in .run/env.
export default defineConfig(({ mode }) => ({
	esbuild: { jsx: "automatic", jsxImportSource: "preact" },
	server: { proxy: { "/api": loadEnv(mode, ".", "DECIMA_").DECIMA_URL ?? "http://127.0.0.1:7070" } },
	build: {
		target: "es2022",
		modulePreload: false, // one script: the polyfill would be a second one
		assetsInlineLimit: 0, // the Content-Security-Policy does not allow data: URLs
		reportCompressedSize: false,
	},
	test: { testTimeout: 60_000, include: ["test/**/*.test.ts"] },
}));
