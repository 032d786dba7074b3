import LMDB

extension ExtentStep {
  /// Begins the work of a transaction. Reads the state of the file if another process has committed since.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - context: The facts that the transaction needs.
  ///   - extents: The state after the last transaction of this process, or nil.
  ///   - target: The transaction, which has changed nothing.
  /// - Throws: `LMDBError` if the state cannot be read.
  init(
    _ file: DiskFile, _ context: StepContext, _ extents: inout ExtentState?, in target: borrowing ExtentTransaction
  ) throws(LMDBError) {
    let horizon = try target.horizon()
    var hasForeignCommits = false
    if !(extents?.isCurrent(in: horizon) ?? false) {
      var read = try ExtentState(reading: target.indexed.transaction, target.tables)
      if let extents {
        read.experience = extents.experience
        // The other process can have put records into extents of the window. They are then evicted, too.
        read.clearing = extents.clearing
        read.newSeparates = extents.newSeparates
        read.log.subtractRemovals(in: extents.log)
        hasForeignCommits = true
      }
      extents = read
    }
    let limits = target.tables.limits
    var own = Context(
      limits: ExtentLimits(
        layout: limits.layout, pageCount: context.pageCount ?? limits.pageCount, pageSize: limits.pageSize),
      recency: context.recency)
    own.invalidated = context.invalidated
    // Only then does a commit promise to survive a power cut.
    own.avoidsSharedPages = file.environment.options.durability != .noSync
    try self.init(&extents, own, during: horizon, in: target)
    // The other process decides by the rows which extent is next.
    writesLiveBytes = hasForeignCommits
  }
}
