import CisternCore
import LMDB
import Locking
import Synchronization

/// The state that all disk tiers of a directory in this process share: the file, the partitions and the writer
/// thread.
///
/// Readers run and writes are staged on any thread. Only the writer thread writes to the file and replaces it.
@safe
final class DiskEngine: Sendable {
  typealias Mode = SecondTierStatistics.Mode

  let directory: String
  let options: DiskOptions
  /// The layout of a new file that replaces a file.
  private let firstLayout: DiskLayout
  let limits: DiskLimits
  let recency: RecencyBitmap
  let counters = EngineCounters()
  private let forkCount = ForkCount.current

  /// The phase of the last commit before the process exits. See ``ExitCommit``.
  let exitPhaseByte = Atomic<UInt8>(ExitCommit.Phase.running.rawValue)
  /// Whether the last owner has closed, so that the writer thread must end.
  let hasNoOwner = Atomic<Bool>(false)
  private let claimState: Guarded<DirectoryClaim>

  private let modeByte: Atomic<UInt8>
  /// The open file, or nil. The reference is unretained, because `files` retains the file as long as the engine
  /// lives.
  private let currentFile = unsafe Atomic<Unmanaged<DiskFile>?>(nil)
  /// Every file that was opened. A reader may still use an old one.
  private let files = Guarded<[DiskFile]>([])
  private let partitionsByName = Guarded<[String: Partition]>([:])
  /// The invalidations for partitions that are not open. Lock order: `partitionsByName`, then this lock.
  let unopened = Guarded(UnopenedInvalidations())
  private let reporters = Guarded<[Int: @Sendable (StoreReport) -> Void]>([:])

  /// The number of the newest ticket.
  private let ticketNumber = Atomic<UInt64>(0)
  /// The number and the bytes of staged writes, including the writes that are being committed.
  let stagedCount = Atomic<Int>(0)
  let stagedBytes = Atomic<Int>(0)
  /// Whether the writer thread sleeps until a write is staged. The thread that stages one must then wake it.
  let writerIsIdle = Atomic<Bool>(false)
  /// Whether the writer thread waits until a reader ends that keeps pages from reuse. For tests.
  let writerAwaitsReader = Atomic<Bool>(false)
  /// The number of the newest batch. ``openBatch()`` raises it.
  let batchNumber = Atomic<UInt64>(0)
  /// The tickets of the batches that ended since the last hand-over.
  ///
  /// The callers of the batches wait for these tickets, even if later writes replaced the writes that have them.
  let batchTickets = Guarded<[BatchNumber: CommitTicket]>([:])
  /// The gate between open batches and the writer thread.
  let batchGate = Monitor(BatchGate())
  let progress = Guarded(CommitProgress())
  let monitor = Monitor(WriterState())
  /// The error of the first lost write since the last flush that threw, or nil.
  let unreportedFlushError = Guarded<CisternError?>(nil)
  /// The running reads of the whole file.
  let longReads = LongReads()
  /// Defects that readers found, for the writer thread to examine.
  let reportedDefects = Guarded<[ReportedDefect]>([])

  init(directory: String, options: DiskOptions, limits: DiskLimits, claim: DirectoryClaim, file: DiskFile?) {
    self.directory = directory
    self.options = options
    firstLayout = file?.layout.kind ?? options.layoutOfNewFile
    self.limits = limits
    claimState = Guarded(claim)
    recency = RecencyBitmap(capacity: limits.recencyCapacity)
    modeByte = Atomic((options.isReadOnly ? Mode.readOnly : .active).byte)
    if let file {
      setFile(file)
      noteSizes(of: file)
    }
  }

  // MARK: State

  var mode: Mode {
    get { Mode(byte: modeByte.load(ordering: .acquiring)) }
    set { modeByte.store(newValue.byte, ordering: .releasing) }
  }

  /// The claim on the directory, which processes can share. Only the writer thread replaces it.
  var claim: DirectoryClaim {
    get { claimState.withLock { $0 } }
    set { claimState.withLock { $0 = newValue } }
  }

  /// Whether this process was forked from the one that created the engine. The locks may then never be released.
  @inline(__always)
  var isInherited: Bool { ForkCount.current != forkCount }

  /// The open file, or nil.
  @inline(__always)
  var file: DiskFile? { unsafe uncountedFile?.takeUnretainedValue() }

  /// The layout of the open file, or else of the next one.
  var layout: DiskLayout { file?.layout.kind ?? firstLayout }

  /// The settings of the open directory. Its layout is that of the file.
  var settings: OpenSettings {
    var options = options
    options.layout = layout
    return options.settings
  }

  /// The open file without a reference count. It is valid as long as the caller retains the engine.
  @inline(__always)
  var uncountedFile: Unmanaged<DiskFile>? { unsafe currentFile.load(ordering: .acquiring) }

  /// Sets the file that readers use from now on, or none. Readers may still use the previous one.
  func setFile(_ file: DiskFile?) {
    if let file { files.withLock { $0.append(file) } }
    // Retained by `files`, above.
    unsafe currentFile.store(file.map { unsafe Unmanaged.passUnretained($0) }, ordering: .releasing)
  }

  /// Whether the calling thread reads one of the engine's files, also one that the writer thread is closing.
  var isReadByCurrentThread: Bool { files.withLock { $0 }.contains { $0.environment.isUsedByCurrentThread } }

  // MARK: Tickets

  /// The newest ticket.
  var newestTicket: CommitTicket { CommitTicket(number: ticketNumber.load(ordering: .sequentiallyConsistent)) }

  /// Returns a new ticket, which follows every write staged before.
  func nextTicket() -> CommitTicket {
    CommitTicket(number: ticketNumber.add(1, ordering: .sequentiallyConsistent).newValue)
  }

  // MARK: Partitions

  var partitions: [Partition] { partitionsByName.withLock { Array($0.values) } }

  /// Returns the partition of the cache `name`. Creates it if the engine does not have it yet.
  ///
  /// - Parameters:
  ///   - name: The name of the cache.
  ///   - isCommitted: Whether the file already has the invalidations that are being committed for partitions that are
  ///     not open.
  /// - Returns: The partition.
  func partition(named name: String, isCommitted: Bool = false) -> Partition {
    if let partition = partitionsByName.withLock({ $0[name] }) { return partition }
    while true {
      guard let partition = enter(newPartition(named: name), named: name, isCommitted: isCommitted) else { continue }
      // Repeated now that the writer thread knows the partition, because a commit may have happened in between.
      learnGeneration(of: partition)
      if !partition.isLearned || !partition.invalidations.purgeable.isEmpty { wakeForMaintenance() }
      return partition
    }
  }

  /// A partition that was read from the file, and that the writer thread does not know yet.
  struct NewPartition {
    fileprivate let partition: Partition
    fileprivate let file: DiskFile?
    fileprivate let commitCount: UnopenedInvalidations.CommitCount
  }

  /// Reads a partition from the file.
  func newPartition(named name: String) -> NewPartition {
    let commitCount = unopened.withLock { $0.commitCount }
    let partition = Partition(name: storedName(of: name))
    let file = file
    // Required before a write can be staged: new invalidation versions continue from the one in the file.
    if let file { learnGeneration(of: partition, from: file) }
    return NewPartition(partition: partition, file: file, commitCount: commitCount)
  }

  /// Enters a partition among those that the writer thread knows. Returns the one that is there if another thread was
  /// first.
  ///
  /// Returns nil if the partition must be read again.
  func enter(_ new: NewPartition, named name: String, isCommitted: Bool = false) -> Partition? {
    partitionsByName.withLock { partitions in
      if let partition = partitions[name] { return partition }
      // The file has the handed-over change of a partition that the commit has written, but none of the later ones.
      let (newCount, pending) = unopened.withLock { ($0.commitCount, isCommitted ? $0.staged : $0.pending) }
      // An invalidation was committed since the partition was read, and no reader may miss it.
      guard newCount == new.commitCount else { return nil }
      // If the file is closed later, the writer thread finds the partition here, and makes it forget the file.
      guard file === new.file else { return nil }
      // Another process has committed since, and the writer thread has informed only the partitions that it found here.
      if let file, new.partition.isLearned,
        file.noticedTransaction.load(ordering: .acquiring) > new.partition.knownTransaction.load(ordering: .acquiring)
      {
        return nil
      }
      stagePending(pending, in: new.partition)
      partitions[name] = new.partition
      return new.partition
    }
  }

  /// Returns the spelling of a partition's name in the file. Only a store that reads can find another spelling than the
  /// given one.
  private func storedName(of name: String) -> String {
    guard options.isReadOnly, let file else { return name }
    do {
      return try file.storedName(of: name) ?? name
    } catch {
      // If the file has another spelling, all reads of the partition are misses.
      noteReadFailure(error, of: file.environment)
      return name
    }
  }

  // MARK: Reports

  func addReporter(_ reporter: @escaping @Sendable (StoreReport) -> Void, for owner: Int) {
    reporters.withLock { $0[owner] = reporter }
  }

  func removeReporter(for owner: Int) {
    // The reporter is the user's: free it outside the lock.
    _ = reporters.withLock { $0.removeValue(forKey: owner) }
  }

  /// Sends a report to every owner. Call this method outside all locks and transactions.
  func report(_ code: StoreReport.Code, _ message: String, cause: (any Error)? = nil) {
    report(StoreReport(code, message, location: directory, cause: cause))
  }

  func report(_ report: StoreReport) {
    for reporter in reporters.withLock({ Array($0.values) }) { reporter(report) }
  }
}

/// The counters that the writer thread updates.
final class EngineCounters: Sendable {
  let commits = Atomic<Int>(0)
  /// The size of the file in bytes, and its number of records, as of the last commit.
  let fileBytes = Atomic<Int>(0)
  let records = Atomic<Int>(0)
  /// The number of pages that the opening checked, because the file was not as the store had left it.
  let pagesChecked = Atomic<Int>(0)
}
