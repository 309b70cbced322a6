// SPDX-License-Identifier: Apache-2.0
import { loadEnv } from "vite";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the sources, and asks a running querier: DECIMA_URL, as in .run/env.
export default defineConfig(({ mode }) => ({
	esbuild: { jsx: "automatic", jsxImportSource: "preact" },
	server: { proxy: { "/api": loadEnv(mode, ".", "DECIMA_").DECIMA_URL ?? "http://127.0.0.1:7070" } },
	build: {
		target: "es2022",
		modulePreload: false, // one script; the polyfill would be another
		assetsInlineLimit: 0, // a data: URL is not what the policy allows
		reportCompressedSize: false,
	},
	test: { testTimeout: 60_000, include: ["test/**/*.test.ts"] },
}));
