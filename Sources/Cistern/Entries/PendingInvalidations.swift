/// The invalidations of which entries may still be there: what has one's tag, or a key with one's prefix, and is older,
/// counts as gone. Pure; each shard has a copy, under its lock.
///
/// An entry is as old as the number that was newest when its value began to be fetched, or was set. Numbers are the
/// second tier's, where there is one, so that both tiers agree.
@usableFromInline
struct PendingInvalidations<Key: Sendable>: Sendable {
  private struct Prefix: Sendable {
    let bytes: [UInt8]
    /// Called under locks: of this module.
    let matches: @Sendable (Key) -> Bool
    var number: UInt64
  }

  /// The number of the newest.
  @usableFromInline private(set) var newest: UInt64
  /// Those up to here are forgotten: nothing in memory is older. What comes from elsewhere and is, is taken for gone.
  private var floor: UInt64
  private var tags: [String: UInt64] = [:]
  private var prefixes: [Prefix] = []

  /// Begins after the invalidations up to `newest`, of which nothing in memory is left.
  init(newest: UInt64 = 0) {
    self.newest = newest
    floor = newest
  }

  var count: Int { tags.count + prefixes.count }

  @usableFromInline
  mutating func add(tag: String, number: UInt64) {
    tags[tag] = number
    newest = max(newest, number)
  }

  mutating func add(prefix bytes: [UInt8], number: UInt64, matches: @escaping @Sendable (Key) -> Bool) {
    prefixes.removeAll { $0.bytes.starts(with: bytes) }
    prefixes.append(Prefix(bytes: bytes, matches: matches, number: number))
    newest = max(newest, number)
  }

  /// Forgets those up to `number`: no entry in memory is older, and no flight.
  @usableFromInline
  mutating func forget(upTo number: UInt64) {
    floor = max(floor, number)
    tags = tags.filter { $0.value > number }
    prefixes.removeAll { $0.number <= number }
  }

  /// Whether one that is newer than `era` concerns a key with these tags. The key is asked for at most
  /// once, and only where there are prefixes.
  @usableFromInline
  func concerns(_ key: @autoclosure () -> Key, tags keyTags: [String], since era: UInt64) -> Bool {
    concerns(key(), since: era) || keyTags.contains { tag in tags[tag].map { $0 > era } ?? false }
  }

  /// Whether one that is newer than `era` concerns a key, whatever its tags are.
  @usableFromInline
  func concerns(_ key: @autoclosure () -> Key, since era: UInt64) -> Bool {
    if era < floor { return true }
    guard prefixes.contains(where: { $0.number > era }) else { return false }
    let key = key()
    return prefixes.contains { $0.number > era && $0.matches(key) }
  }

  /// The whole number of an era that was cut to fit a slot; it lies less than 2²⁴ invalidations back.
  @usableFromInline
  func number(of era: Era) -> UInt64 { newest &- ((newest &- UInt64(era.bits)) & 0xff_ffff) }
}
