/// The invalidations that entries and flights in memory may be older than: an entry counts as gone if it has the tag of a newer
/// one, or a key with its prefix. Pure.
///
/// The age of an entry is the number of the newest invalidation when its value began to be fetched, or was set. The second
/// tier gives the numbers, if there is one, so that both tiers agree.
///
/// There are two generations. A new invalidation joins the recent one in constant time, and the older generation is forgotten as a
/// whole, when nothing in memory is older than it, or when a flight that does not end keeps more than ``bound`` bytes.
@usableFromInline
struct PendingInvalidations<Key: Sendable>: Sendable {
  /// Finds the newest number among the prefixes of a key. Called under locks: of this module.
  typealias PrefixLookUp = @Sendable (Key, PrefixTree) -> UInt64

  /// Invalidations that are forgotten together.
  struct Generation: Sendable {
    fileprivate var tags: [String: UInt64] = [:]
    fileprivate var prefixes = PrefixTree()
    /// The number of the newest.
    fileprivate(set) var newest: UInt64 = 0
    /// The memory that they use, approximately, in bytes.
    fileprivate(set) var size = 0

    fileprivate var count: Int { tags.count + prefixes.count }
  }

  /// The number of the newest.
  @usableFromInline private(set) var newest: UInt64
  /// All up to this number are forgotten. A value that is older counts as concerned, at the cost of a fetch.
  private var floor: UInt64
  private var recent = Generation()
  private var older = Generation()
  /// Nil until the first prefix.
  private var lookUp: PrefixLookUp?
  /// The bytes that flights may keep. Beyond, a flight that is older than the older generation counts as invalidated.
  let bound: Int

  /// Begins after the invalidations up to `newest`, of which nothing in memory is left.
  init(newest: UInt64 = 0, bound: Int = 8 << 20) {
    self.newest = newest
    self.bound = bound
    floor = newest
  }

  /// A tag that is in both generations counts twice.
  var count: Int { recent.count + older.count }

  /// The memory that they use, approximately, in bytes.
  var size: Int { recent.size + older.size }

  // MARK: Adding

  @usableFromInline
  mutating func add(tag: String, number: UInt64) {
    if recent.tags.updateValue(number, forKey: tag) == nil { recent.size += Invalidation.tag(tag).size }
    noteAdded(number)
  }

  mutating func add(prefix bytes: [UInt8], number: UInt64, lookUp: @escaping PrefixLookUp) {
    self.lookUp = lookUp
    let count = recent.prefixes.count
    recent.prefixes.insert(bytes, number: number)
    if recent.prefixes.count > count { recent.size += Invalidation.prefix(bytes).size }
    noteAdded(number)
  }

  private mutating func noteAdded(_ number: UInt64) {
    newest = max(newest, number)
    recent.newest = newest
    // Faster than any sweep: all entries count as gone.
    guard size > 4 * bound else { return }
    floor = newest
    (recent, older) = (Generation(), Generation())
  }

  // MARK: Forgetting

  /// What a sweep permits.
  enum Forgetting: Sendable, Hashable {
    case nothing
    /// Nothing in memory is older than the older generation, or too much is kept.
    case older
    /// Nothing in memory is older than any.
    case all
  }

  /// - Parameters:
  ///   - oldest: no entry and no flight in memory is older.
  ///   - swept: no entry in memory is older.
  func forgetting(olderThan oldest: UInt64, swept: UInt64) -> Forgetting {
    if count == 0 { return .nothing }
    // The recent generation may be empty.
    if max(older.newest, recent.newest) <= oldest { return .all }
    if older.newest <= oldest { return .older }
    return recent.size > bound / 2 && older.newest <= swept ? .older : .nothing
  }

  /// Forgets what ``forgetting(olderThan:swept:)`` says. Returns it, for the caller to free outside all locks.
  mutating func forget(olderThan oldest: UInt64, swept: UInt64) -> [Generation] {
    let former = [older, recent]
    switch forgetting(olderThan: oldest, swept: swept) {
    case .nothing:
      return []
    case .older:
      floor = max(floor, older.newest)
      older = recent
    case .all:
      floor = max(floor, older.newest, recent.newest)
      older = Generation()
    }
    recent = Generation()
    return former
  }

  // MARK: Comparing

  /// Whether an invalidation that is newer than `era` concerns a key with these tags. Evaluates the key at most once, and only if
  /// there are such prefixes.
  @usableFromInline
  func concerns(_ key: @autoclosure () -> Key, tags keyTags: [String], since era: UInt64) -> Bool {
    if era < floor { return true }
    for tag in keyTags where max(recent.tags[tag] ?? 0, older.tags[tag] ?? 0) > era { return true }
    return hasNewerPrefix(key, than: era)
  }

  /// Whether an invalidation that is newer than `era` concerns a key, whatever its tags are.
  @usableFromInline
  func concerns(_ key: @autoclosure () -> Key, since era: UInt64) -> Bool {
    era < floor || hasNewerPrefix(key, than: era)
  }

  private func hasNewerPrefix(_ makeKey: () -> Key, than era: UInt64) -> Bool {
    guard let lookUp, max(recent.prefixes.newest, older.prefixes.newest) > era else { return false }
    let key = makeKey()
    return lookUp(key, recent.prefixes) > era || lookUp(key, older.prefixes) > era
  }

  /// The whole number of an era that was cut to fit a slot; it lies less than 2²⁴ invalidations back.
  @usableFromInline
  func number(of era: Era) -> UInt64 { newest &- ((newest &- UInt64(era.bits)) & 0xff_ffff) }
}
