import CisternCore
import Locking

// Engines whose path leads to another directory than before: the directory was moved, removed, or is behind another
// link.

extension DiskRegistry {
  /// Makes the engines follow their paths that would leave the directory, or move to it, with their next commit.
  ///
  /// Blocks the thread until they have tried.
  ///
  /// - Parameter identity: The directory.
  /// - Returns: The engines that move to the directory, also those that could not do so yet.
  func bringIntoPlace(_ identity: DirectoryIdentity) -> [DiskEngine] {
    var (leaving, arriving): ([DiskEngine], [DiskEngine]) = ([], [])
    for (engine, directory) in directories.withLock({ $0.engineDirectories }) where !engine.options.isReadOnly {
      let leadsHere = DirectoryIdentity(ifPresent: engine.directory) == identity
      if leadsHere, directory != identity { arriving.append(engine) }
      if !leadsHere, directory == identity { leaving.append(engine) }
    }
    // An engine cannot enter the directory before another one has left it.
    for engine in leaving + arriving { engine.awaitFollowing() }
    // Of two engines that exchange their directories, the first can enter its new one only now.
    for engine in leaving where directories.withLock({ $0.isBetweenDirectories(engine) }) { engine.awaitFollowing() }
    return arriving
  }

  /// Notes that the engine has closed its files, and that its path leads to another directory.
  ///
  /// Further openings of the former directory do not share the engine. A new directory can get the identity of the
  /// former one.
  func leave(_ engine: DiskEngine) {
    directories.change { $0.leave(engine) }
  }

  /// Enters the directory of a claim as the engine's, so that further openings of the directory share the engine.
  ///
  /// - Returns: False if this process has the directory open by another engine. Two engines on one file would not see
  ///   each other's staged writes.
  func enter(_ claim: DirectoryClaim, for engine: DiskEngine) -> Bool {
    // A claim that cannot be examined has a directory that no other opening can have.
    guard let identity = claim.directoryIdentity else { return true }
    return directories.change { $0.enter(identity, engine) }
  }
}

extension DiskEngine {
  /// Whether the engine moves to another directory than this one with its next commit.
  func isLeaving(_ identity: DirectoryIdentity) -> Bool {
    !options.isReadOnly && DirectoryIdentity(ifPresent: directory) != identity
  }

  /// Asks the writer thread to follow the path to another directory. Blocks the thread until it has done so or failed.
  ///
  /// A thread for which a writer thread can wait does not block.
  func awaitFollowing() {
    if isInherited { return }
    let ticket = nextTicket()
    monitor.change { $0.isCommitRequested = true }
    if DiskRegistry.shared.isCallerAwaited { return }
    // Each duty of the writer thread ends with a wake-up, or with another duty if more is staged than the limits allow.
    monitor.wait { state in
      state.life == .stopped || progress.withLock { $0.settled >= ticket } ? () : nil
    }
  }
}
