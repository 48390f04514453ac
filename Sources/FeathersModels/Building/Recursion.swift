/// Finds the types that contain themselves, and breaks each cycle where Swift allows it.
struct Recursion {
    private var edges: [String: [String]] = [:]
    private var unions: Set<String> = []
    /// The number of each type's cycle. Types in the same cycle have the same number.
    private var circles: [String: Int] = [:]
    private var order: [String: (index: Int, low: Int)] = [:]
    private var stack: [String] = []

    init(_ declarations: [SwiftDeclaration]) {
        for declaration in declarations.flatMap(\.all) {
            switch declaration {
            case .structure(let structure):
                edges[structure.path] = structure.properties.filter { $0.presence != .patch }.compactMap(\.type.stored)
            case .union(let union):
                edges[union.path] = union.cases.compactMap(\.type.stored)
                unions.insert(union.path)
            case .enumeration: break
            }
        }
        for path in edges.keys.sorted() where order[path] == nil { visit(path) }
    }

    /// Finds strongly connected components (Tarjan). It has its own stack, because types may refer to each other in
    /// chains that would overflow the stack of a thread.
    private mutating func visit(_ first: String) {
        var open = [(path: first, next: 0)]
        enter(first)
        while let (path, next) = open.last {
            let targets = edges[path] ?? []
            if next < targets.count {
                open[open.count - 1].next += 1
                let target = targets[next]
                if edges[target] != nil, order[target] == nil {
                    enter(target)
                    open.append((target, 0))
                } else {
                    lower(path, to: target)
                }
                continue
            }
            open.removeLast()
            close(path)
            if let around = open.last?.path { lower(around, to: path) }
        }
    }

    private mutating func enter(_ path: String) {
        order[path] = (order.count, order.count)
        stack.append(path)
    }

    /// Records that a type reaches another type, unless the other type's cycle is already known.
    private mutating func lower(_ path: String, to target: String) {
        guard circles[target] == nil, let reached = order[target], let low = order[path]?.low else { return }
        order[path]?.low = min(low, reached.low)
    }

    private mutating func close(_ path: String) {
        guard let (index, low) = order[path], low == index else { return }
        while let last = stack.popLast() {
            circles[last] = index
            if last == path { break }
        }
    }

    private func isCircular(_ path: String, _ next: String) -> Bool {
        guard let circle = circles[path] else { return false }
        return circle == circles[next]
    }

    /// Returns the declaration, made indirect where its type contains itself.
    func broken(_ declaration: SwiftDeclaration) -> SwiftDeclaration {
        switch declaration {
        case .enumeration: return declaration
        case .structure(var structure):
            for index in structure.properties.indices where structure.properties[index].presence != .patch {
                guard let stored = structure.properties[index].type.stored, !unions.contains(stored) else { continue }
                structure.properties[index].isIndirect = isCircular(structure.path, stored)
            }
            structure.nested = structure.nested.map(broken)
            return .structure(structure)
        case .union(var union):
            union.isIndirect = union.cases.contains { $0.type.stored.map { isCircular(union.path, $0) } ?? false }
            union.nested = union.nested.map(broken)
            return .union(union)
        }
    }
}
