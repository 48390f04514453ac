import FeathersCore
import FeathersJSON

/// The positions of a document's resources by their identity. Of repeated resources, the first one counts.
///
/// A hash table over the bytes of types and ids, as they are in the text: a dictionary would need strings for its keys.
struct ResourceIndex {
    /// Positions plus one; 0 for a free slot.
    private var slots: [Int32]
    private let mask: Int

    init(_ resources: [ResourceSource]) {
        // Without relationships, nothing is looked for.
        let resources = resources.contains { $0.relationships != nil } ? resources : []
        var capacity = 8
        // A resource may have an id and a local id.
        while capacity < resources.count * 4 { capacity *= 2 }
        slots = [Int32](repeating: 0, count: capacity)
        mask = capacity - 1
        for (position, resource) in resources.enumerated() {
            if let id = resource.id { insert(position, resource.type, id, isLocal: false, in: resources) }
            if let lid = resource.lid { insert(position, resource.type, lid, isLocal: true, in: resources) }
        }
    }

    private mutating func insert(_ position: Int, _ type: String, _ id: String, isLocal: Bool, in resources: [ResourceSource]) {
        var hash = ResourceHash()
        hash.combine(type)
        hash.separate(isLocal: isLocal)
        hash.combine(id)
        var slot = hash.value & mask
        while slots[slot] != 0 {
            let other = resources[Int(slots[slot]) - 1]
            if (isLocal ? other.lid : other.id)?.isExactly(id) == true, other.type.isExactly(type) { return }
            slot = (slot + 1) & mask
        }
        slots[slot] = Int32(truncatingIfNeeded: position + 1)
    }

    /// The position of the resource with an identifier; nil if there is none, or if the identifier is invalid.
    func position(of identifier: DecodingSource, in resources: [ResourceSource]) -> Int? {
        guard let members = identifier.members, let type = members["type"], type.isString else { return nil }
        if let id = members["id"], id.isString || id.integer != nil { return find(type, id, isLocal: false, in: resources) }
        guard let lid = members["lid"], lid.isString else { return nil }
        return find(type, lid, isLocal: true, in: resources)
    }

    private func find(_ type: DecodingSource, _ id: DecodingSource, isLocal: Bool, in resources: [ResourceSource]) -> Int? {
        var hash = ResourceHash()
        hash.combine(type)
        hash.separate(isLocal: isLocal)
        hash.combine(id)
        var slot = hash.value & mask
        while slots[slot] != 0 {
            let position = Int(slots[slot]) - 1
            if resources[position].has(id, isLocal: isLocal), type.isExactly(resources[position].type) { return position }
            slot = (slot + 1) & mask
        }
        return nil
    }
}

extension ResourceSource {
    fileprivate func has(_ id: DecodingSource, isLocal: Bool) -> Bool {
        guard let own = isLocal ? lid : self.id else { return false }
        return id.isExactly(own) || id.integer.map { String($0).isExactly(own) } ?? false
    }
}

/// The hash of a resource's identity. It is seeded, so that a server cannot choose ids that collide.
private struct ResourceHash {
    private var hasher = Hasher()

    var value: Int { hasher.finalize() }

    mutating func combine(_ source: DecodingSource) {
        if let bytes = source.plainBytes { combine(bytes) } else { combine(source.identifierText ?? "") }
    }

    mutating func combine(_ string: String) {
        var string = string
        string.withUTF8 { combine($0) }
    }

    private mutating func combine(_ bytes: UnsafeBufferPointer<UInt8>) { hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }

    /// Separates the type from the id: no text contains these bytes.
    mutating func separate(isLocal: Bool) { hasher.combine(isLocal ? 0xFE : 0xFF as UInt8) }
}
