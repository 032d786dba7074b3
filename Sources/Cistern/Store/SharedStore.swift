import Locking

/// The state that all stores of one directory in this process share: memory, second tier, reports and caches.
///
/// Stores and caches keep it alive; it keeps no cache alive. The second tier is closed with the last store that closes,
/// or with the last reference.
@usableFromInline
final class SharedStore: Sendable {
  let budget: MemoryBudget
  let secondTier: (any SecondTier)?
  /// The configuration of the first opening. Later ones agree with it, except for their report handlers.
  let configuration: Store.Configuration
  let reportLog: ReportLog
  /// The directory, if other stores of this process can find it there.
  private let directory: (identity: DirectoryIdentity, settings: OpenSettings)?
  private let pressure: PressureResponse?
  private let state = Guarded(State())

  private struct State: Sendable {
    /// The stores that were neither closed nor released.
    var openStores = 1
    var isClosed = false
    var caches: [String: OpenCache] = [:]
  }

  init(
    memoryLimit: Int, secondTier: (any SecondTier)?, configuration: Store.Configuration, reportLog: ReportLog,
    directory: (identity: DirectoryIdentity, settings: OpenSettings)? = nil
  ) {
    budget = MemoryBudget(costLimit: memoryLimit)
    self.secondTier = secondTier
    self.configuration = configuration
    self.reportLog = reportLog
    self.directory = directory
    pressure = configuration.respondsToMemoryPressure ? PressureResponse(budget: budget) : nil
  }

  deinit {
    if let directory { StoreRegistry.shared.forget(ObjectIdentifier(self), at: directory.identity) }
  }

  // MARK: Openings

  /// Takes part in what is open; false if it was closed since.
  ///
  /// Throws if the settings differ.
  func join(_ settings: OpenSettings, location: String) throws(CisternError) -> Bool {
    let differences = directory?.settings.differences(in: settings) ?? []
    let (isOpen, orphans) = state.withLock { state in
      guard !state.isClosed, differences.isEmpty else { return (!state.isClosed, [:]) }
      // The handlers of released stores stay for their caches' sake until another store takes over.
      let orphans = state.openStores == 0 ? reportLog.takeHandlers() : [:]
      state.openStores += 1
      return (true, orphans)
    }
    withExtendedLifetime(orphans) {}
    guard differences.isEmpty || !isOpen else {
      throw OpenSettings.conflict("the store", differences, location: location)
    }
    return isOpen
  }

  /// A store was released without being closed. The directory stays open for the sake of its caches.
  func leave(_ number: Int) {
    let isLast = state.withLock { state in
      state.openStores -= 1
      return state.openStores == 0
    }
    if !isLast { reportLog.removeHandler(number) }
  }

  /// Flushes, and ends one store's part. The last one closes the second tier.
  func close(_ number: Int) async throws(CisternError) {
    guard let tier = secondTier as? DiskTier, directory != nil else {
      state.withLock { $0.isClosed = true }
      try await secondTier?.close()
      return
    }
    var failure: CisternError?
    do throws(CisternError) {
      try await tier.flush()
    } catch {
      failure = error
    }
    let isLast = state.withLock { state in
      state.openStores -= 1
      guard state.openStores == 0 else { return false }
      state.isClosed = true
      // In here: another store that opens from now on has its own memory, which must miss no write.
      return tier.detach()
    }
    if isLast { await tier.release() } else { reportLog.removeHandler(number) }
    if let failure { throw failure }
  }

  // MARK: Caches

  /// The cache with this name, if any store has it open.
  func cache(named name: String) -> (member: any StoreMember, settings: OpenSettings)? {
    state.withLock { state in
      guard let open = state.caches[name], let member = open.member else { return nil }
      return (member, open.settings)
    }
  }

  /// Enters a cache and calls `entered`, unless one with its name is there, which is returned instead.
  func enter(
    _ member: any StoreMember, named name: String, settings: OpenSettings, entered: () -> Void
  ) -> (member: any StoreMember, settings: OpenSettings) {
    state.withLock { state in
      if let open = state.caches[name], let first = open.member { return (first, open.settings) }
      state.caches[name] = OpenCache(member: member, settings: settings)
      entered()
      return (member, settings)
    }
  }

  /// All caches that are open, by name.
  var caches: [String: any StoreMember] {
    state.withLock { $0.caches.compactMapValues(\.member) }
  }

  private struct OpenCache: Sendable {
    weak var member: (any StoreMember)?
    let settings: OpenSettings
  }
}
