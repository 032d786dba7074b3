import LMDB
import Locking
import Synchronization

/// What all disk tiers of one directory in this process share: the file, the partitions, the writer thread.
///
/// Readers and stagers run on any thread. Only the writer thread writes to the file and replaces it.
@safe
final class DiskEngine: Sendable {
  enum Mode: UInt8 {
    case active
    case readOnly
    case degraded
    case closed
  }

  let directory: String
  let options: DiskOptions
  let limits: DiskLimits
  let recency: RecencyBitmap
  let counters = EngineCounters()
  private let forkCount = ForkCount.present

  /// The state of the last commit before the process ends; see ``ExitCommit``.
  let exitPhaseByte = Atomic<UInt8>(ExitCommit.Phase.running.rawValue)
  /// Whether the last owner is gone, and the writer thread was told to end.
  let ownersLeft = Atomic<Bool>(false)
  private let claimState: Guarded<DirectoryClaim>

  private let modeByte: Atomic<UInt8>
  /// The open file; nil while there is none. What it points to is kept by `files`.
  private let currentFile = unsafe Atomic<Unmanaged<DiskFile>?>(nil)
  /// Every file that was opened: a reader may still be looking at an old one.
  private let files = Guarded<[DiskFile]>([])
  private let partitionsByName = Guarded<[String: Partition]>([:])
  private let reporters = Guarded<[Int: @Sendable (StoreReport) -> Void]>([:])

  /// The number of the newest staged write.
  let tickets = Atomic<UInt64>(0)
  /// Writes that are staged, those being committed included, and their bytes.
  let stagedCount = Atomic<Int>(0)
  let stagedBytes = Atomic<Int>(0)
  /// Whether the writer thread sleeps until it is told that something was staged.
  let writerIsIdle = Atomic<Bool>(false)
  /// The number of the newest batch, and the gate between batches and the writer thread.
  let batchNumbers = Atomic<UInt64>(0)
  let batchGate = Monitor(BatchGate())
  let progress = Guarded(CommitProgress())
  let monitor = Monitor(WriterState())
  /// Once something that was written is not on disk because the disk failed, until a flush has told of it.
  let hasUntoldLosses = Atomic<Bool>(false)
  /// What readers found wrong, for the writer thread to look at.
  let suspects = Guarded<[Suspect]>([])

  init(directory: String, options: DiskOptions, limits: DiskLimits, claim: DirectoryClaim, file: DiskFile?) {
    self.directory = directory
    self.options = options
    self.limits = limits
    claimState = Guarded(claim)
    recency = RecencyBitmap(capacity: limits.recencyCapacity)
    modeByte = Atomic((options.isReadOnly ? Mode.readOnly : .active).rawValue)
    if let file {
      setFile(file)
      noteSizes(of: file)
    }
  }

  // MARK: State

  var mode: Mode {
    get { Mode(rawValue: modeByte.load(ordering: .acquiring)) ?? .closed }
    set { modeByte.store(newValue.rawValue, ordering: .releasing) }
  }

  /// The part in the directory that processes share. Only the writer thread replaces it.
  var claim: DirectoryClaim {
    get { claimState.withLock { $0 } }
    set { claimState.withLock { $0 = newValue } }
  }

  /// Whether the engine belongs to the process that this one was forked from; then its locks may never open again.
  @inline(__always)
  var isInherited: Bool { ForkCount.present != forkCount }

  /// The open file; nil while there is none.
  @inline(__always)
  var file: DiskFile? { unsafe uncountedFile?.takeUnretainedValue() }

  /// As `file`, for whoever keeps the engine while it uses the file: kept by `files` for as long as the engine lives.
  @inline(__always)
  var uncountedFile: Unmanaged<DiskFile>? { unsafe currentFile.load(ordering: .acquiring) }

  /// Makes the file the one that is read, or none. Readers may still be inside the one before.
  func setFile(_ file: DiskFile?) {
    if let file { files.withLock { $0.append(file) } }
    // Kept by `files`, above.
    unsafe currentFile.store(file.map { unsafe Unmanaged.passUnretained($0) }, ordering: .releasing)
  }

  // MARK: Partitions

  var partitions: [Partition] { partitionsByName.withLock { Array($0.values) } }

  func partition(named name: String) -> Partition {
    if let partition = partitionsByName.withLock({ $0[name] }) { return partition }
    let made = Partition(name: options.isReadOnly ? (try? file?.spelling(of: name)) ?? name : name)
    // Before anyone can stage anything: invalidations go on from the number that is in the file.
    learnGeneration(of: made)
    let partition = partitionsByName.withLock { partitions in
      if let partition = partitions[name] { return partition }
      partitions[name] = made
      return made
    }
    // Again, now that the writer thread knows of it, for what was committed in between.
    learnGeneration(of: partition)
    if !partition.invalidations.purgeable.isEmpty { wakeForChores() }
    return partition
  }

  // MARK: Reports

  func addReporter(_ reporter: @escaping @Sendable (StoreReport) -> Void, for owner: Int) {
    reporters.withLock { $0[owner] = reporter }
  }

  func removeReporter(for owner: Int) {
    // Freed outside the lock: it is the user's.
    _ = reporters.withLock { $0.removeValue(forKey: owner) }
  }

  /// Tells those who opened the store; outside all locks and transactions.
  func report(_ code: StoreReport.Code, _ message: String, cause: (any Error)? = nil) {
    report(StoreReport(code, message, location: directory, cause: cause))
  }

  func report(_ report: StoreReport) {
    for reporter in reporters.withLock({ Array($0.values) }) { reporter(report) }
  }
}

/// What the writer thread counts.
final class EngineCounters: Sendable {
  let commits = Atomic<Int>(0)
  /// The file's size as of the last commit, and the records and bytes in it.
  let fileBytes = Atomic<Int>(0)
  let records = Atomic<Int>(0)
  /// Pages that the opening had to look at, because the file was not as it had been left.
  let pagesChecked = Atomic<Int>(0)
}
