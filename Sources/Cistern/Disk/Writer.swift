import LMDB
import Synchronization

/// The writer thread's own: what it alone knows between one round and the next.
final class Writer {
  let engine: DiskEngine
  /// Generations whose records are to be purged.
  var deadGenerations: [UInt64] = []
  /// The walk over the records that ends invalidations, where one is under way.
  var walk: PurgeWalk?
  /// How many pages more than usual are kept free, since the map was found full.
  var extraMargin = 0
  /// The file's pages when the device had no room for more; nil where it has not come to that.
  var ceiling: Int?
  /// How long to wait before a failing disk is tried again.
  var retryDelay: UInt64
  /// Why the disk is being tried again; nil while it is not.
  var retryCause: WriterState.RetryCause?
  /// The reader that was reported to keep the file's space from being used, and may still be there.
  var longReader: ReaderSlot?
  /// Rounds since stale readers were last cleared.
  var roundsSinceReaderCheck = 0
  /// Tells whether the names in the directory were checked.
  var watch = DirectoryWatch()
  /// Once the last owner closed the store.
  private(set) var isStopping = false
  /// Reports of the present round. Their handlers may end the process, and the round must be over then.
  private var pendingReports: [StoreReport] = []

  static let roundsBetweenReaderChecks = 256

  init(engine: DiskEngine) {
    self.engine = engine
    retryDelay = engine.options.retryInterval.clampedNanoseconds
  }

  /// Starts the thread of the engine.
  static func start(for engine: DiskEngine) throws(SystemError) {
    try SystemThread.start { Writer(engine: engine).run() }
  }

  /// Does what there is to do until the store is closed.
  private func run() {
    adoptThread()
    loadDeadGenerations()
    loop: while true {
      let duty = nextDuty()
      // Asked before the round: everything that was staged before is in it.
      let isExiting = engine.exitPhase == .asked
      switch duty {
      case .commit where isExiting: commitForExit()
      case .commit: commitStaged()
      case .chores: doChores()
      case .retry(let cause):
        retry(cause)
        if isExiting { engine.exitPhase = .done }
      case .stop: break loop
      }
      deliverReports()
    }
    stop()
  }

  private func nextDuty() -> WriterState.Duty {
    let interval = engine.options.commitInterval.clampedNanoseconds
    return engine.monitor.wait(orUntil: { state in
      // Announced before looking: whoever stages after the look finds it, and wakes the thread.
      engine.writerIsIdle.store(true, ordering: .sequentiallyConsistent)
      let count = engine.stagedCount.load(ordering: .sequentiallyConsistent)
      let answer = state.duty(now: monotonicNanoseconds(), stagedCount: count, interval: interval)
      if case .waiting(until: nil) = answer { return answer }
      engine.writerIsIdle.store(false, ordering: .relaxed)
      return answer
    })
  }

  /// Adds a report that is delivered when the round is over.
  func report(_ report: StoreReport) { pendingReports.append(report) }

  func deliverReports() {
    while !pendingReports.isEmpty {
      let reports = pendingReports
      pendingReports = []
      for report in reports { engine.report(report) }
    }
  }

  /// The last round, and the closing of the file.
  private func stop() {
    isStopping = true
    commitStaged()
    deliverReports()
    engine.mode = .closed
    engine.failWaiters(engine.closedError("wait for a commit"))
    engine.closeFile()
    let (room, stop) = engine.monitor.change { state in
      state.hasStopped = true
      defer {
        state.roomWaiters = []
        state.stopWaiters = []
      }
      return (state.roomWaiters, state.stopWaiters)
    }
    DiskRegistry.shared.forget(engine)
    engine.exitPhase = .done
    for waiter in room { waiter.resume() }
    for waiter in stop { waiter.resume() }
  }
}
