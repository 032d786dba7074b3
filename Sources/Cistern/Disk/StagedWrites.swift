import LMDB

/// A staged write, and its place in the order of all.
struct StagedEntry: Sendable {
  let write: StagedWrite
  let number: UInt64
  /// How many times the partition had been emptied when the write was staged; one of an earlier epoch is void.
  let epoch: UInt16
  /// What it counts towards the bound on staging.
  let size: Int
  /// The batch that it is a part of; zero for none.
  var batch: UInt64 = 0
}

/// The newest staged write of each of some keys, looked up by bytes without an array being made of them.
struct StagedWrites: Sendable, Sequence {
  private var byHash: [UInt64: StagedEntry] = [:]
  /// Keys whose hash another key took before them: all but never any.
  private var others: [[UInt8]: StagedEntry] = [:]

  // Of the process: what makes two keys meet in one, does not in the next.
  private static let seed = UInt64.random(in: .min ... .max)

  static func hash(_ key: RawSpan) -> UInt64 { Checksum.of(key, seed: seed) }

  var count: Int { byHash.count + others.count }
  var isEmpty: Bool { byHash.isEmpty }

  func entry(forKey key: RawSpan, hash: UInt64) -> StagedEntry? {
    if let entry = byHash[hash], entry.write.key.rawSpan.hasSameBytes(as: key) { return entry }
    return others.isEmpty ? nil : others[key.copiedBytes()]
  }

  /// Takes the entry; answers the one of the same key that it replaces.
  mutating func set(_ entry: StagedEntry, hash: UInt64) -> StagedEntry? {
    if let present = byHash[hash], present.write.key != entry.write.key {
      return others.updateValue(entry, forKey: entry.write.key)
    }
    return byHash.updateValue(entry, forKey: hash)
  }

  /// Takes the entry where its key has none; answers whether it did.
  mutating func insert(_ entry: StagedEntry) -> Bool {
    let key = entry.write.key
    let hash = StagedWrites.hash(key.rawSpan)
    guard self.entry(forKey: key.rawSpan, hash: hash) == nil else { return false }
    return set(entry, hash: hash) == nil
  }

  /// Calls `body` with each entry, in no order.
  func forEach(_ body: (StagedEntry) -> Void) {
    for entry in byHash.values { body(entry) }
    for entry in others.values { body(entry) }
  }

  func makeIterator() -> some IteratorProtocol<StagedEntry> {
    var first = byHash.values.makeIterator()
    var second = others.values.makeIterator()
    return AnyIterator { first.next() ?? second.next() }
  }
}

extension StagedWrite {
  /// Its bytes in memory, roughly.
  @usableFromInline
  var stagedSize: Int {
    switch self {
    case .record(let key, let metadata, let bytes):
      key.count + bytes.count + metadata.tags.reduce(160) { $0 + $1.utf8.count + 16 }
    case .removal(let key): key.count + 96
    }
  }
}
