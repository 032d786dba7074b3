/// The invalidations that may be newer than entries and flights in memory. Pure.
///
/// An entry is invalidated if a newer invalidation names one of its tags or a prefix of its key. The age of a value
/// is the invalidation version with which it was last compared. The age of a flight is the invalidation version when
/// it began. The second tier assigns the versions if there is one, so that both tiers agree.
///
/// The invalidations form two generations. A new invalidation enters the recent generation in constant time. The older
/// generation is forgotten as a whole in two cases:
///
/// - Nothing in memory is older than that generation.
/// - A flight that does not end keeps the invalidations, and they use more than ``bound`` bytes.
@usableFromInline
struct PendingInvalidations<Key: Sendable>: Sendable {
  /// Returns the highest version among the prefixes of a key. Called under locks, so it runs only this module's code.
  typealias PrefixLookUp = @Sendable (Key, PrefixVersions<InvalidationVersion>) -> InvalidationVersion

  /// Invalidations that are forgotten together.
  struct Generation: Sendable {
    fileprivate var tags: [String: InvalidationVersion] = [:]
    fileprivate var prefixes = PrefixVersions<InvalidationVersion>()
    /// The version of the newest invalidation.
    fileprivate(set) var newest = InvalidationVersion.zero
    /// The approximate memory use, in bytes.
    fileprivate(set) var size = 0

    fileprivate var count: Int { tags.count + prefixes.count }
  }

  /// The version of the newest invalidation.
  @usableFromInline private(set) var newest: InvalidationVersion
  /// The invalidations up to this version are forgotten. An older value counts as invalidated, at the cost of a
  /// fetch.
  private var floor: InvalidationVersion
  private var recent = Generation()
  private var older = Generation()
  /// Nil until the first prefix is added.
  private var lookUp: PrefixLookUp?
  /// The size in bytes up to which a flight can keep invalidations.
  ///
  /// Above it, a flight that is older than the older generation counts as invalidated.
  let bound: Int

  /// Creates an empty set after the invalidations up to `newest`. Nothing in memory is older than these.
  init(newest: InvalidationVersion = .zero, bound: Int = 8 << 20) {
    self.newest = newest
    self.bound = bound
    floor = newest
  }

  /// The number of invalidations. A tag in both generations counts twice.
  var count: Int { recent.count + older.count }

  /// The approximate memory use, in bytes.
  var size: Int { recent.size + older.size }

  // MARK: Adding

  /// Adds an invalidation by tag.
  @usableFromInline
  mutating func add(tag: String, at version: InvalidationVersion) {
    if recent.tags.updateValue(version, forKey: tag) == nil { recent.size += Invalidation.tag(tag).size }
    noteAdded(version)
  }

  /// Adds an invalidation by prefix. `lookUp` compares keys with the prefixes from now on.
  mutating func add(prefix bytes: [UInt8], at version: InvalidationVersion, lookUp: @escaping PrefixLookUp) {
    self.lookUp = lookUp
    let count = recent.prefixes.count
    recent.prefixes.insert(bytes, version: version)
    if recent.prefixes.count > count { recent.size += Invalidation.prefix(bytes).size }
    noteAdded(version)
  }

  private mutating func noteAdded(_ version: InvalidationVersion) {
    newest = max(newest, version)
    recent.newest = newest
    // Invalidations come faster than sweeps, so all entries count as invalidated.
    guard size > 4 * bound else { return }
    floor = newest
    (recent, older) = (Generation(), Generation())
  }

  // MARK: Forgetting

  /// The invalidations that a sweep may forget.
  enum ForgettableInvalidations: Sendable, Hashable {
    case nothing
    /// The older generation: nothing in memory is older than it, or the invalidations use too much memory.
    case older
    /// All invalidations: nothing in memory is older than any of them.
    case all
  }

  /// Returns the invalidations that may be forgotten after a sweep.
  ///
  /// - Parameters:
  ///   - oldest: An invalidation version. No entry and no flight is older.
  ///   - swept: An invalidation version. No entry is older.
  /// - Returns: The invalidations.
  func forgetting(olderThan oldest: InvalidationVersion, swept: InvalidationVersion) -> ForgettableInvalidations {
    if count == 0 { return .nothing }
    // The recent generation may be empty.
    if max(older.newest, recent.newest) <= oldest { return .all }
    if older.newest <= oldest { return .older }
    return recent.size > bound / 2 && older.newest <= swept ? .older : .nothing
  }

  /// Forgets the invalidations that ``forgetting(olderThan:swept:)`` returns.
  ///
  /// - Returns: The former generations, which the caller destroys outside all locks.
  mutating func forget(olderThan oldest: InvalidationVersion, swept: InvalidationVersion) -> [Generation] {
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

  /// Returns whether an invalidation that is newer than `invalidationVersion` concerns a key with these tags.
  ///
  /// Evaluates the key at most once, and only if there are newer prefixes.
  @usableFromInline
  func concerns(_ key: @autoclosure () -> Key, tags keyTags: [String], since invalidationVersion: InvalidationVersion)
    -> Bool
  {
    if invalidationVersion < floor { return true }
    for tag in keyTags where max(recent.tags[tag] ?? .zero, older.tags[tag] ?? .zero) > invalidationVersion {
      return true
    }
    return hasNewerPrefix(key, than: invalidationVersion)
  }

  /// Returns whether an invalidation by prefix that is newer than `invalidationVersion` concerns a key. Ignores tags.
  @usableFromInline
  func concerns(_ key: @autoclosure () -> Key, since invalidationVersion: InvalidationVersion) -> Bool {
    invalidationVersion < floor || hasNewerPrefix(key, than: invalidationVersion)
  }

  private func hasNewerPrefix(_ makeKey: () -> Key, than invalidationVersion: InvalidationVersion) -> Bool {
    guard let lookUp, max(recent.prefixes.newest, older.prefixes.newest) > invalidationVersion else { return false }
    let key = makeKey()
    return lookUp(key, recent.prefixes) > invalidationVersion || lookUp(key, older.prefixes) > invalidationVersion
  }

  /// Returns the whole invalidation version of which an entry stores the low 24 bits.
  ///
  /// - Precondition: Fewer than 2²⁴ invalidations came since that version.
  @usableFromInline
  func number(of invalidationVersion: ShortVersion) -> InvalidationVersion { invalidationVersion.whole(upTo: newest) }
}
