/// A delivery in progress of the contents of a scope: an enumeration, and then the changes. Used by one task at a time.
///
/// No read transaction and no lock is held between the calls.
struct ContentReader<Key: CacheKey, Value: Sendable> {
  typealias Update = ContentUpdate<Key, Value>

  /// The number of keys whose values are read in one call.
  var groupSize = 64
  /// The number of records that the enumeration reads in one transaction.
  var chunkSize = EntryWalk<Key, Value>.chunkSize
  private let scope: ObservationScope<Key>
  private let buffering: UpdateBuffering
  /// Nil if the cache was deinitialized before.
  let subscription: Subscription<IteratorMailbox>?
  /// Weak, because an observer does not keep its cache alive.
  private weak var cache: Cache<Key, Value>?
  private var state = ContentState<Key, Value>()
  /// The enumeration; nil for a scope of keys, and when none is in progress.
  private var walk: EntryWalk<Key, Value>?
  /// The keys that the enumeration has found, and that were not read yet.
  private var keys: ArraySlice<Key> = []
  private var hasFailed = false

  /// Registers for the changes of the scope.
  init(_ scope: ObservationScope<Key>, buffering: UpdateBuffering, of cache: Cache<Key, Value>?) {
    self.scope = scope
    self.buffering = buffering
    self.cache = cache
    subscription = cache.map {
      Subscription(
        ErasedScope(contentsOf: scope), IteratorMailbox(buffering: .newestPerKey), in: $0.observers.center)
    }
  }

  /// The next elements of a delivery.
  enum Step {
    /// These elements, maybe none. Other tasks should run before the next call.
    case updates([Update])
    /// The consumer must wait for a change.
    case following
    /// The cache was deinitialized, or the observation ended.
    case ended
  }

  /// Returns the next elements. Reads a group of keys at most.
  mutating func step() -> Step {
    guard let subscription, !subscription.isEnded else { return .ended }
    if hasFailed {
      subscription.end()
      return .ended
    }
    if state.phase == .following { return .following }
    guard let cache else {
      walk = nil
      return .ended
    }
    do throws(CisternError) {
      if state.phase == .beginning { try begin(subscription, cache) }
      return .updates(try readGroup(subscription, cache))
    } catch {
      walk = nil
      hasFailed = true
      return .updates([.failed(error)])
    }
  }

  /// Returns the elements for a change that the consumer waited for.
  mutating func take(_ change: ErasedChange) -> [Update] {
    ContentChange(change, in: scope).map { state.take($0) } ?? []
  }

  /// Begins an enumeration. It discards the changes before, because the reads of the keys contain them.
  private mutating func begin(
    _ subscription: Subscription<IteratorMailbox>, _ cache: Cache<Key, Value>
  ) throws(CisternError) {
    _ = subscription.mailbox.takeAll(continuingWith: .newestPerKey)
    state.begin()
    switch scope.selection {
    case .keys(let keys):
      self.keys = Array(keys)[...]
    case .everything:
      walk = try EntryWalk(cache, .all, after: nil)
    case .prefix(let bytes, _):
      walk = try EntryWalk(cache, .withPrefix(KeyPrefix(bytes: bytes)), after: nil)
    case .tagged(let tag):
      walk = try EntryWalk(cache, .tagged(tag), after: nil)
    }
  }

  private mutating func readGroup(
    _ subscription: Subscription<IteratorMailbox>, _ cache: Cache<Key, Value>
  ) throws(CisternError) -> [Update] {
    if keys.isEmpty, var walk, !walk.isAtEnd {
      keys = try walk.nextEntries(limit: chunkSize).map(\.key)[...]
      self.walk = walk
    }
    // The keys of a scope are read without an enumeration, which checks that itself.
    try cache.records.checkIsOpen(to: "observe the contents of the cache \(cache.name)")
    let group = keys.prefix(groupSize)
    keys = keys.dropFirst(group.count)
    var reads: [ContentState<Key, Value>.Read] = []
    for key in group where state.needs(key) { reads.append(try read(key, in: cache)) }
    let isLast = keys.isEmpty && walk?.isAtEnd ?? true
    // After the reads: all changes that they contain are in the mailbox.
    let changes = subscription.mailbox.takeAll(continuingWith: isLast ? buffering.contentPolicy : .newestPerKey)
    let updates = state.take(reads, changes.compactMap { ContentChange($0, in: scope) }, isLast: isLast)
    if state.phase != .enumerating {
      walk = nil
      keys = []
    }
    return updates
  }

  private func read(_ key: Key, in cache: Cache<Key, Value>) throws(CisternError) -> ContentState<Key, Value>.Read {
    let (snapshot, number) = cache.records.numberedSnapshot(of: cache.table.hashed(key))
    let value = if let edited = snapshot.edited { edited.shown } else { snapshot.usable }
    // A value that cannot be read is not absent: it can be found later, without a change.
    if value == nil, snapshot.edited == nil, let secondTier = cache.secondTier,
      secondTier.partition.presence(of: secondTier.bytes(key).rawSpan) == nil
    {
      throw CisternError(
        .diskFailed, "the initial entries cannot be read", location: cache.records.reports.location(of: key))
    }
    if case .tagged(let tag) = scope.selection, !snapshot.timing.tags.contains(tag) {
      return ContentState.Read(key: key, value: nil, number: number)
    }
    return ContentState.Read(key: key, value: value, number: number)
  }
}
