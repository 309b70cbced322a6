// SPDX-License-Identifier: Apache-2.0
/*
 * templates - much code of the standard library's templates, inlined into one another.
 * tests/integration/test_symbols.py compares how tools symbolize its addresses.
 */
#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace
{

struct Visitor {
	std::string operator()(int n) const
	{
		return std::to_string(n);
	}
	std::string operator()(const std::string &s) const
	{
		return "'" + s + "'";
	}
	std::string operator()(const std::vector<int> &v) const
	{
		std::ostringstream out;

		for (int n : v)
			out << n << ',';
		return out.str();
	}
};

using Value = std::variant<int, std::string, std::vector<int>>;

template <typename Map> std::vector<std::string> keys(const Map &map)
{
	std::vector<std::string> found;

	std::transform(map.begin(), map.end(), std::back_inserter(found),
		       [](const auto &pair) { return pair.first; });
	std::sort(found.begin(), found.end(), std::greater<>());
	return found;
}

} // namespace

int main(int argc, char **argv)
{
	std::map<std::string, Value> ordered;
	std::unordered_map<std::string, std::shared_ptr<Value>> hashed;
	std::deque<std::set<int>> sets;
	std::regex word("([a-z]+)-([0-9]+)");

	for (int i = 0; i < argc; i++) {
		std::smatch match;
		std::string text = argv[i];

		if (std::regex_search(text, match, word))
			ordered[match[1]] = std::stoi(match[2]);
		else
			ordered[text] = std::vector<int>(static_cast<size_t>(i), i);
		hashed[text] = std::make_shared<Value>(ordered[text]);
		sets.emplace_back(std::set<int>{ i, i + 1, i * 7 });
	}
	for (const auto &key : keys(ordered))
		std::cout << key << '=' << std::visit(Visitor(), ordered[key]) << '\n';
	for (const auto &key : keys(hashed))
		std::cout << std::visit(Visitor(), *hashed[key]) << '\n';
	return std::accumulate(sets.begin(), sets.end(), 0, [](int sum, const std::set<int> &set) {
		return sum + (set.empty() ? 0 : *set.rbegin());
	});
}
