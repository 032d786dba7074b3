import CisternCore
import LMDB
import Synchronization

extension Writer {
  /// Commits everything that is staged, before the store closes or the process ends.
  func commitLast() {
    commitStaged()
    // Removals replace the writes that the group has given up. Without their commit, older values would return.
    if engine.mode == .active, engine.stagedCount.load(ordering: .sequentiallyConsistent) > 0 { commitStaged() }
    writeLiveBytes()
    // A caller that begins to wait after the close gets the result of its write only if that is known now.
    if engine.progress.withLock({ $0.hasUnsynchronizedCommits }) { makeDurableAndResume() }
  }

  /// Commits the live bytes of the extents whose rows state others.
  ///
  /// The next opening reads the rows. A failure has no effect but older rows, as after a crash.
  private func writeLiveBytes() {
    guard engine.mode == .active, let file = engine.file, let extents, extents.log.hasUnwrittenLiveBytes,
      engine.claim.isInPlace(), (try? file.isInPlace()) == true
    else { return }
    try? commitSeparately(in: file) { (step, _) throws(LMDBError) in step.records.writeLiveBytes() }
    noteChanges()
  }
}
