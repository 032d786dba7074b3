import CisternCore
import Locking
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The last commit of all stores when the process calls `exit` or returns from `main`.
///
/// The exit handler waits at most ``longestDelay`` for the writer threads and for locks. The thread that exits may
/// hold a lock. After a fork, so may a thread of the parent process, which does not exist in the child.
package enum ExitCommit {
  /// The maximum delay of an exit, in nanoseconds. Tests on busy machines raise it.
  package static let longestDelay = Atomic<UInt64>(1_000_000_000)

  /// The phase of an engine's last commit.
  enum Phase: UInt8 {
    case running
    /// The process exits, and the writer thread must commit the staged writes.
    case asked
    case done
  }

  private static let registration: Void = {
    _ = atexit { ExitCommit.run() }
  }()

  /// Registers the exit handler, once for the process.
  static func register() { registration }

  private static func run() {
    let deadline = monotonicNanoseconds() + longestDelay.load(ordering: .relaxed)
    let engines = DiskRegistry.shared.engines(until: deadline).filter { $0.needsExitCommit }
    for engine in engines { engine.requestExitCommit(until: deadline) }
    for engine in engines {
      while engine.exitPhase != .done, monotonicNanoseconds() < deadline { usleep(200) }
    }
  }
}

extension DiskEngine {
  var exitPhase: ExitCommit.Phase {
    get { ExitCommit.Phase(rawValue: exitPhaseByte.load(ordering: .acquiring)) ?? .running }
    set { exitPhaseByte.store(newValue.rawValue, ordering: .releasing) }
  }

  /// Whether the writer thread has work to do. False in the child of a fork, because the writes are the parent's.
  fileprivate var needsExitCommit: Bool {
    !isInherited && !options.isReadOnly && (stagedCount.load(ordering: .sequentiallyConsistent) > 0 || isClosing)
  }

  private var isClosing: Bool { hasNoOwner.load(ordering: .acquiring) && exitPhase != .done }

  fileprivate func requestExitCommit(until deadline: UInt64) {
    // The phase stays `done` if the writer thread has already finished.
    let (isAsked, _) = exitPhaseByte.compareExchange(
      expected: ExitCommit.Phase.running.rawValue, desired: ExitCommit.Phase.asked.rawValue,
      ordering: .acquiringAndReleasing)
    guard isAsked else { return }
    if let writer = Writer.current, writer.engine === self {
      writer.commitOnOtherThread()
    } else {
      _ = monitor.change(until: deadline) { $0.isCommitRequested = true }
    }
  }
}

extension Writer {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// The writer whose thread is the calling thread. Nil on other threads.
  static var current: Writer? {
    // The thread itself stored the pointer, and its `run` retains the writer as long as the thread runs.
    unsafe pthread_getspecific(key).map { unsafe Unmanaged<Writer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Makes the calling thread this writer's thread.
  func adoptThread() {
    _ = unsafe pthread_setspecific(Writer.key, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Performs the last commit before the process ends. Writes that are staged later are lost.
  func commitForExit() {
    commitLast()
    engine.exitPhase = .done
  }

  /// Commits on another thread, because the writer thread itself exits in a report handler.
  ///
  /// The writer thread never returns to its work, so only the other thread uses the writer. A disk that hangs does
  /// not delay the exit beyond its limit.
  fileprivate func commitOnOtherThread() {
    // Safe because only one thread at a time uses the writer, as described above.
    nonisolated(unsafe) let writer = self
    // Without a thread, the staged writes are lost, as after a crash. The process ends, so no caller can receive the
    // error.
    try? SystemThread.startForWriting { unsafe writer.commitForExit() }
  }
}
