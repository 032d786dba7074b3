import Cistern

/// The values that a store with temporarily failing files may return, key by key.
struct FaultModel {
  static let keyCount = 60

  /// The number of the newest value of each key, or nil if the key was removed.
  private(set) var newest = [Int?](repeating: nil, count: keyCount)
  /// The keys that were written since the last flush.
  private var unflushed: Set<Int> = []
  /// The keys whose last write a failed flush may have left off the disk.
  private var uncertain: Set<Int> = []
  /// Whether the disk may evict any key for lack of space.
  var evicts = false
  /// The keys that memory evicted, so that only the disk may have them.
  private(set) var trimmed: Set<Int> = []
  private var written = 0
  private(set) var faults: [String] = []

  typealias Values = Cache<String, [UInt8]>

  static func key(_ number: Int) -> String { "key-\(number)" }

  /// Returns a value that contains its key and number. Some values are longer than a page.
  static func value(_ key: Int, _ number: Int) -> [UInt8] {
    var state = Mixer(state: UInt64(key) << 32 ^ UInt64(number))
    let size = state.next(below: 6) == 0 ? 9_000 : state.next(below: 700)
    return Array("\(key):\(number):".utf8) + (0..<size).map { _ in UInt8(truncatingIfNeeded: state.next()) }
  }

  /// Writes or removes random keys.
  mutating func write(_ count: Int, to cache: Values, _ random: inout Mixer) {
    for _ in 0..<count {
      let key = random.next(below: Self.keyCount)
      written += 1
      unflushed.insert(key)
      uncertain.remove(key)
      trimmed.remove(key)
      if random.next(below: 5) == 0 {
        newest[key] = nil
        cache.removeValue(forKey: Self.key(key))
      } else {
        newest[key] = written
        cache.setValue(Self.value(key, written), forKey: Self.key(key))
      }
    }
  }

  /// Records that a flush succeeded: all writes since the last flush are on disk.
  mutating func flushed() { unflushed = [] }

  /// Records that a flush failed: the writes since the last flush may or may not be on disk.
  mutating func failedToFlush() {
    uncertain.formUnion(unflushed)
    unflushed = []
  }

  mutating func trim(_ store: Store) {
    store.trimMemory(to: .bytes(0))
    trimmed = Set(0..<Self.keyCount)
  }

  /// Reads all keys. A key may return only its newest value.
  mutating func check(_ cache: Values, _ when: String) {
    for key in 0..<Self.keyCount {
      let found = cache.value(forKey: Self.key(key))
      let expected = newest[key].map { Self.value(key, $0) }
      if found == expected { continue }
      if found != nil {
        note(key, when, "has \(Self.describe(found)) instead of \(Self.describe(expected))")
      } else if !trimmed.contains(key) {
        note(key, when, "is not in memory any more")
      }
    }
  }

  /// Reads all keys in a reopened store. Flushed values must be present.
  mutating func checkReopened(_ cache: Values) {
    for key in 0..<Self.keyCount {
      let found = cache.value(forKey: Self.key(key))
      let expected = newest[key].map { Self.value(key, $0) }
      if found == expected || (found == nil && (evicts || uncertain.contains(key))) { continue }
      note(key, "opened again", "has \(Self.describe(found)) instead of \(Self.describe(expected))")
    }
  }

  mutating func note(_ text: String) { faults.append(text) }

  private mutating func note(_ key: Int, _ when: String, _ text: String) {
    faults.append("\(when), key \(key) \(text)")
  }

  private static func describe(_ value: [UInt8]?) -> String {
    value.map { String(decoding: $0.prefix(12), as: UTF8.self) } ?? "nothing"
  }
}
