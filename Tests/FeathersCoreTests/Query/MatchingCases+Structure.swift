import FeathersCore

extension MatchingCase {
    static let paths: [MatchingCase] = [
        MatchingCase(["a.b": 1], ["a": ["b": 1]], true),
        MatchingCase(["a.b": 1], ["a": ["b": 2]], false),
        MatchingCase(["a.b": 1], ["a": [:]], false),
        MatchingCase(["a.b": 1], ["a": 1], false),
        MatchingCase(["a.b": 1], [:], false),
        MatchingCase(["a.b": 1], ["a": nil], false),
        MatchingCase(["a.b": 1], ["a": [["b": 2], ["b": 1]]], true),
        MatchingCase(["a.b": 1], ["a": ["b": [1]]], true),
        MatchingCase(["a.b": 1], ["a.b": 1], false),
        MatchingCase(["a.b": nil], ["a": [:]], true),
        MatchingCase(["a.b": nil], [:], true),
        MatchingCase(["a.b": nil], ["a": ["b": nil]], true),
        MatchingCase(["a.b": nil], ["a": ["b": 1]], false),
        MatchingCase(["a.b": nil], ["a": [["b": 1]]], false),
        MatchingCase(["a.b": nil], ["a": [[:]]], true),
        MatchingCase(["a.b": nil], ["a": []], false),
        MatchingCase(["a.b": ["$ne": 1]], ["a": ["b": 1]], false),
        MatchingCase(["a.b": ["$ne": 1]], ["a": [:]], true),
        MatchingCase(["a.b": ["$ne": 1]], [:], true),
        MatchingCase(["a.b": ["$ne": 1]], ["a": [["b": 1], ["b": 2]]], false),
        MatchingCase(["a.b": ["$ne": 1]], ["a": [["b": 2]]], true),
        MatchingCase(["a.b": ["$nin": [2]]], ["a": [["b": 1], ["b": 2]]], true),
        MatchingCase(["a.b": ["$nin": [2]]], ["a": [["b": 2], ["b": 1]]], false),
        MatchingCase(["a.b": ["$nin": [2]]], ["a": []], false),
        MatchingCase(["a.b": ["$nin": [2]]], [:], true),
        MatchingCase(["a.b": ["$in": [nil]]], ["a": [["b": 1]]], true),
        MatchingCase(["a.b": ["$in": [nil]]], ["a": ["b": 1]], false),
        MatchingCase(["a.0": 1], ["a": [1, 2]], true),
        MatchingCase(["a.0": 1], ["a": [2, 1]], false),
        MatchingCase(["a.0": 1], ["a": ["0": 1]], true),
        MatchingCase(["a.5": nil], ["a": [1]], false),
        MatchingCase(["a.5": nil], ["a": [:]], true),
        MatchingCase(["a.1.b": ["$gt": 1]], ["a": [["b": 9], ["b": 2]]], true),
        MatchingCase(["a.1.b": ["$gt": 1]], ["a": [["b": 9], ["b": 1]]], false),
        MatchingCase(["a.length": 2], ["a": [7, 8]], true),
        MatchingCase(["a.length": 2], ["a": "xy"], true),
        MatchingCase(["a.length": 2], ["a": [1]], false),
        MatchingCase(["a.b.c": ["$gte": 2]], ["a": ["b": ["c": 2]]], true),
        MatchingCase(["a.b.c": ["$gte": 2]], ["a": [["b": [["c": 1], ["c": 3]]]]], true),
    ]
}

extension MatchingCase {
    static let groups: [MatchingCase] = [
        MatchingCase(["$or": [["a": 1], ["b": 2]]], ["a": 1], true),
        MatchingCase(["$or": [["a": 1], ["b": 2]]], ["b": 2], true),
        MatchingCase(["$or": [["a": 1], ["b": 2]]], ["a": 2, "b": 1], false),
        MatchingCase(["$or": [["a": 1], ["b": 2]]], [:], false),
        MatchingCase(["$and": [["a": ["$ne": 1]], ["a": ["$ne": 2]]]], ["a": 3], true),
        MatchingCase(["$and": [["a": ["$ne": 1]], ["a": ["$ne": 2]]]], ["a": 2], false),
        MatchingCase(["$and": [["a": ["$ne": 1]], ["a": ["$ne": 2]]]], [:], true),
        MatchingCase(["c": 1, "$or": [["a": 1], ["b": 2]]], ["a": 1, "c": 1], true),
        MatchingCase(["c": 1, "$or": [["a": 1], ["b": 2]]], ["a": 1], false),
        MatchingCase(
            ["$and": [["$or": [["a": 1], ["a": 2]]], ["$or": [["b": 1], ["b": 2]]]]], ["a": 1, "b": 2], true),
        MatchingCase(
            ["$and": [["$or": [["a": 1], ["a": 2]]], ["$or": [["b": 1], ["b": 2]]]]], ["a": 1, "b": 3], false),
        MatchingCase(["$or": [["$or": [["a": 1]]], ["b": 1]]], ["a": 1], true),
        MatchingCase(["$or": [["$or": [["a": 1]]], ["b": 1]]], ["b": 1], true),
        MatchingCase(["$or": [["$or": [["a": 1]]], ["b": 1]]], ["a": 2], false),
        MatchingCase(["$or": [[:]]], ["a": 1], true),
    ]
}
