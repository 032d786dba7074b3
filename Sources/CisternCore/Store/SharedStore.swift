import Eviction
import Locking

/// The state that all stores of one directory in this process share: memory, second tier, reports and caches.
///
/// Stores and caches keep this object alive, but it keeps no cache alive. The second tier closes with the last store
/// that is closed, or with the last reference.
@usableFromInline
package final class SharedStore: Sendable {
  let budget: MemoryBudget
  let secondTier: (any SecondTier)?
  /// The configuration of the first opening. Later openings have the same one, except for their report handlers.
  let configuration: Store.Configuration
  package let reportLog: ReportLog
  let timeline: WallTimeline
  let openCaches = OpenCaches()
  /// The directory and its settings, or nil if other stores in this process cannot share this state.
  private let listing: Listing?
  private let pressure: PressureResponse?
  private let state = Guarded(State())

  /// The place of a shared state among those of all open directories.
  package struct Listing: Sendable {
    /// Returns the settings with which the directory is open. Another process can have replaced its file since.
    let settings: @Sendable () -> OpenSettings
    /// Removes the state from the others; called with its identity when it ends.
    let remove: @Sendable (ObjectIdentifier) -> Void

    package init(
      settings: @escaping @Sendable () -> OpenSettings, remove: @escaping @Sendable (ObjectIdentifier) -> Void
    ) {
      self.settings = settings
      self.remove = remove
    }
  }

  private struct State: Sendable {
    /// The number of stores that were neither closed nor released.
    var openStores = 1
    var isClosed = false
  }

  package init(
    memoryLimit: Int, secondTier: (any SecondTier)?, configuration: Store.Configuration, reportLog: ReportLog,
    listing: Listing? = nil
  ) {
    budget = MemoryBudget(costLimit: memoryLimit)
    self.secondTier = secondTier
    self.configuration = configuration
    self.reportLog = reportLog
    timeline = WallTimeline(configuration.clock)
    self.listing = listing
    pressure = configuration.respondsToMemoryPressure ? PressureResponse(budget: budget) : nil
  }

  deinit {
    listing?.remove(ObjectIdentifier(self))
  }

  // MARK: Openings

  /// Adds an opening with these settings. Returns false if the shared state was closed in the meantime.
  ///
  /// Throws if the settings differ.
  package func addOpening(with settings: OpenSettings, location: String) throws(CisternError) -> Bool {
    let differences = listing?.settings().differences(in: settings) ?? []
    let (isOpen, orphans) = state.withLock { state in
      guard !state.isClosed, differences.isEmpty else { return (!state.isClosed, [:]) }
      // Handlers of released stores still serve their caches, until another store opens.
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

  /// Ends the part of a store that was released without a close. The directory stays open for the caches of the
  /// store.
  func leave(_ number: Int) {
    let isLast = state.withLock { state in
      state.openStores -= 1
      return state.openStores == 0
    }
    if !isLast { reportLog.removeHandler(number) }
  }

  /// Flushes, then ends the part of one store. The last store closes the second tier.
  func close(_ number: Int) async throws(CisternError) {
    guard let tier = secondTier as? any SharedTier, listing != nil else {
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
      // Detach inside the lock. A store that opens from now on has separate memory, so no write may go around it.
      return tier.detach()
    }
    if isLast { await tier.release() } else { reportLog.removeHandler(number) }
    if let failure { throw failure }
  }

  // MARK: Caches

  /// All open caches by name.
  var caches: [String: any StoreMember] { openCaches.members }
}
