import CisternCore
import LMDB

extension Writer {
  /// Runs `body` with the work of one write transaction, after a look at the commits of other processes.
  ///
  /// The last change of `body` must be ``WriteStep/finish(in:)``.
  func withStep<Result>(
    in file: DiskFile, _ body: (inout WriteStep, inout IndexTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    try file.note.expectChange(of: file.environment, engine.claim)
    var extents = extents.take()
    defer { self.extents = extents }
    do throws(LMDBError) {
      let (result, hasChanges) = try file.withStep(context, &extents) {
        (step, transaction) throws(LMDBError) -> (Result, Bool) in
        try noticeForeignCommits(of: file, &step, in: &transaction.transaction)
        let result = try body(&step, &transaction)
        return (result, step.outcome.hasChanges)
      }
      if hasChanges { needsNewMetaPage = false }
      return result
    } catch {
      // Before any diagnosis: the device can be full, and lack pages of earlier commits, too.
      if error.canReportLostPages { noteLostPages() }
      throw error
    }
  }

  private var context: StepContext {
    StepContext(
      recency: engine.recency, invalidated: engine.invalidatedGenerations, pageCount: deviceRoom.limits.pageCount)
  }

  /// Updates the generations and invalidations of all partitions if another process has committed since the last
  /// look.
  private func noticeForeignCommits(
    of file: DiskFile, _ step: inout WriteStep, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let last = transaction.transactionNumber.previous()
    let isBehind = last > file.knownTransaction.load(ordering: .relaxed)
    if isBehind { file.noticedTransaction.store(last, ordering: .releasing) }
    // The file can have invalidations of a partition that could not be read at its opening.
    for partition in engine.partitions where isBehind || !partition.isLearned {
      let generation = try step.generation(of: partition, creating: false, in: &transaction)
      try partition.learnInvalidations(in: transaction, as: last, of: file)
      partition.learn(generation: generation, transaction: last)
    }
    if isBehind { step.outcome.hasDeadGenerations = true }
  }
}
