import CisternCore
import LMDB
import Locking
import Synchronization

/// The state of the writer thread between commit groups. Only the writer thread accesses it, or the thread that
/// replaces it at the exit of the process.
final class Writer {
  let engine: DiskEngine
  /// The generations whose records must be purged.
  var deadGenerations: [Generation] = []
  /// The current walk that ends invalidations, or nil.
  var walk: PurgeWalk?
  /// The state of a dense file after the last transaction of this process. Nil if it must be read.
  var extents: ExtentState?
  /// The attempts at maintenance that found no room. They bound its next transaction.
  var maintenanceAttempts = MaintenanceAttempts()
  /// The number of additional pages to keep free since the map was found full.
  var extraMargin = 0
  /// The sizes that the device has room for.
  var deviceRoom: DeviceRoom
  var outages = OutageReports()
  /// The delay before the next retry of a failing disk, in nanoseconds.
  var retryDelay: UInt64
  /// The reason for the current retry of the disk; nil if no retry is running.
  var retryCause: WriterState.RetryCause?
  /// The reader that was reported to keep pages from reuse, and that may still exist.
  var longReader: ReaderSlot?
  /// The number of commit groups since stale reader slots were last cleared.
  var groupsSinceReaderCheck = 0
  /// The last checked state of the names in the directory.
  var checkedDirectory = CheckedDirectory()
  /// The identity of the newest file that was open.
  var fileIdentity: StoreIdentity?
  /// The report of older or missing contents that a failed attempt to open the file again has found.
  var historyReport: StoreReport?
  /// Whether the newest meta page may be missing on the device, although the next write-through would succeed. A commit
  /// with changes ends this.
  var needsNewMetaPage: Bool
  /// Whether the last owner has closed the store.
  private(set) var isStopping = false
  /// The reports of the current commit group. Their handlers can end the process, so they run after the group is
  /// complete.
  private var pendingReports: [StoreReport] = []

  static let groupsBetweenReaderChecks = 256

  init(engine: DiskEngine, needsNewMetaPage: Bool) {
    self.engine = engine
    self.needsNewMetaPage = needsNewMetaPage
    deviceRoom = DeviceRoom(engine.limits)
    fileIdentity = engine.file?.identity
    retryDelay = engine.options.retryInterval.clampedNanoseconds
  }

  /// Starts the writer thread of the engine.
  ///
  /// - Parameters:
  ///   - engine: The engine.
  ///   - needsNewMetaPage: Whether the newest meta page may be missing on the device.
  /// - Throws: `SystemError` if the system has no further thread.
  static func start(for engine: DiskEngine, needsNewMetaPage: Bool) throws(SystemError) {
    try SystemThread.startForWriting { Writer(engine: engine, needsNewMetaPage: needsNewMetaPage).run() }
  }

  /// Runs the duties of the writer thread until the store is closed.
  private func run() {
    adoptThread()
    loadDeadGenerations()
    loop: while true {
      let duty = nextDuty()
      // The phase is read before the commit, so that the commit contains everything that was staged before the
      // request.
      let isExiting = engine.exitPhase == .asked
      switch duty {
      case .commit where isExiting: commitForExit()
      case .commit: commitStaged()
      case .maintenance: maintain()
      case .retry(let cause):
        retry(cause)
        if isExiting { engine.exitPhase = .done }
      case .stop: break loop
      }
      deliverReports()
    }
    stop()
  }

  /// Waits for the next duty of the writer thread.
  private func nextDuty() -> WriterState.Duty {
    let interval = engine.options.commitInterval.clampedNanoseconds
    return engine.monitor.wait(orUntil: { state in
      // The thread announces that it is idle before it looks for writes. A write that is staged after the look
      // wakes the thread.
      engine.writerIsIdle.store(true, ordering: .sequentiallyConsistent)
      let count = engine.stagedCount.load(ordering: .sequentiallyConsistent)
      let answer = state.takeDuty(now: monotonicNanoseconds(), stagedCount: count, interval: interval)
      if case .waiting = answer, state.awaitsWrite { return answer }
      engine.writerIsIdle.store(false, ordering: .relaxed)
      return answer
    })
  }

  /// Adds a report to deliver when the commit group is complete.
  func report(_ report: StoreReport) { pendingReports.append(report) }

  /// Delivers the pending reports, including those that a handler causes.
  ///
  /// A store that closes delivers its reports at the end. A handler can open the directory only then.
  func deliverReports() {
    if !isStopping { deliverAllReports() }
  }

  private func deliverAllReports() {
    while !pendingReports.isEmpty {
      let reports = pendingReports
      pendingReports = []
      for report in reports { engine.report(report) }
    }
  }

  /// Commits the last group, closes the file, and resumes all waiters.
  private func stop() {
    isStopping = true
    commitLast()
    engine.mode = .closed
    engine.failWaiters(engine.closedError("wait for a commit"))
    if let historyReport { report(historyReport) }
    pendingReports += engine.closeFile()
    let waiters = engine.monitor.change { state in
      state.life = .stopped
      defer { state.roomWaiters = [] }
      return state.roomWaiters
    }
    // A caller that began to wait before this state is resumed here, and later ones see it.
    engine.failWaiters(engine.closedError("wait for a commit"))
    DiskRegistry.shared.forget(engine)
    engine.exitPhase = .done
    for waiter in waiters { waiter.resume() }
    deliverAllReports()
    engine.endStop()
  }
}
