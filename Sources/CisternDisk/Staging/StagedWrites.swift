import CisternCore
import LMDB

extension StagedWrite {
  /// Whether it stores a value that was set.
  var isSet: Bool {
    guard case .record(_, let metadata, _) = self else { return false }
    return metadata.isSet
  }

  /// Returns the write with the comparisons of a value that was set, or of one that was not.
  ///
  /// A rewrite of a record that is on disk or is being committed is not set: the removals of other processes since then
  /// concern it.
  func rewriting(aSetValue isSet: Bool) -> StagedWrite {
    guard isSet != self.isSet, case .record(let key, var metadata, let bytes) = self else { return self }
    metadata.isSet = isSet
    return .record(key: key, metadata, bytes: bytes)
  }
}

/// The newest staged write of each key. A look-up by bytes allocates no array.
struct StagedWrites: Sendable, Sequence {
  private var byHash: [UInt64: StagedEntry] = [:]
  /// The writes of keys whose hash collides with the hash of another key. It is almost always empty.
  private var others: [[UInt8]: StagedEntry] = [:]

  // Random for each process, so that keys that collide in one process do not collide in the next.
  private static let seed = UInt64.random(in: .min ... .max)

  static func hash(_ key: RawSpan) -> UInt64 { Checksum.of(key, seed: seed) }

  var count: Int { byHash.count + others.count }
  var isEmpty: Bool { byHash.isEmpty }

  func entry(forKey key: RawSpan, hash: UInt64) -> StagedEntry? {
    if let entry = byHash[hash], entry.write.key.rawSpan.hasSameBytes(as: key) { return entry }
    return others.isEmpty ? nil : others[key.copiedBytes()]
  }

  /// Stores the entry, and returns the entry of the same key that it replaces.
  mutating func set(_ entry: StagedEntry, hash: UInt64) -> StagedEntry? {
    if let known = byHash[hash], known.write.key != entry.write.key {
      return others.updateValue(entry, forKey: entry.write.key)
    }
    return byHash.updateValue(entry, forKey: hash)
  }

  /// Stores the entry if its key has none, and returns whether it did.
  mutating func insert(_ entry: StagedEntry) -> Bool {
    let key = entry.write.key
    let hash = StagedWrites.hash(key.rawSpan)
    guard self.entry(forKey: key.rawSpan, hash: hash) == nil else { return false }
    return set(entry, hash: hash) == nil
  }

  /// Lets the write of the same key take the condition of an earlier write that could not be committed. Returns whether
  /// the key has a write.
  mutating func takeCondition(of earlier: StagedEntry) -> Bool {
    let hash = StagedWrites.hash(earlier.write.key.rawSpan)
    guard var entry = entry(forKey: earlier.write.key.rawSpan, hash: hash) else { return false }
    if entry.condition != nil {
      entry.takeCondition(of: earlier)
      _ = set(entry, hash: hash)
    }
    return true
  }

  /// Calls `body` with each entry, in no particular order.
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
