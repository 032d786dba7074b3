import Locking

/// The open caches of a store by name. It keeps no cache alive.
final class OpenCaches: Sendable {
  /// A class, because debug builds of Swift 6.3 cannot chain on an absent key of a dictionary of structures with weak
  /// references. They read undefined memory.
  private final class OpenCache: Sendable {
    weak let member: (any StoreMember)?
    let settings: OpenSettings

    init(member: any StoreMember, settings: OpenSettings) {
      self.member = member
      self.settings = settings
    }
  }

  private let caches = Guarded<[String: OpenCache]>([:])

  /// Returns the cache with this name; nil if none is open.
  func cache(named name: String) -> (member: any StoreMember, settings: OpenSettings)? {
    caches.withLock { caches in
      guard let open = caches[name], let member = open.member else { return nil }
      return (member, open.settings)
    }
  }

  /// Adds a cache, unless a cache with this name is open. In both cases, returns the open cache.
  ///
  /// - Parameters:
  ///   - member: The cache.
  ///   - name: Its name.
  ///   - settings: Its settings.
  ///   - registration: The registration of its format, which is confirmed if the cache is added.
  /// - Returns: The open cache, and its settings.
  func enter(
    _ member: any StoreMember, named name: String, settings: OpenSettings, registration: FormatRegistration?
  ) -> (member: any StoreMember, settings: OpenSettings) {
    caches.withLock { caches in
      if let open = caches[name], let first = open.member { return (first, open.settings) }
      // Before any thread can find the cache: the commit of its first record must contain its format.
      registration?.confirm()
      caches[name] = OpenCache(member: member, settings: settings)
      return (member, settings)
    }
  }

  /// All open caches by name.
  var members: [String: any StoreMember] { caches.withLock { $0.compactMapValues(\.member) } }

  /// Passes record losses of a partition to the cache that is open now.
  ///
  /// A tier keeps the newest handler of a partition. If openings overlap, that can be the handler of an opening whose
  /// cache was not entered. The handler must therefore not belong to one cache.
  func handleRecordLosses(_ losses: [RecordLoss], ofCacheNamed name: String) {
    cache(named: name)?.member.handleRecordLosses(losses)
  }
}
