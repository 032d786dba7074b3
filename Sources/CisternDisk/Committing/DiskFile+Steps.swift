import LMDB

extension DiskFile {
  /// Runs `body` with the work of one write transaction, and commits it. Aborts the transaction if `body` throws.
  ///
  /// - Parameters:
  ///   - context: Returns the facts that the transaction needs, after it has begun.
  ///   - extents: The state of a dense file after the last transaction of this process. The method reads the state
  ///     if it is nil, or if another process has committed since. Nil for a file of another layout.
  ///   - body: The work. Its last change must be ``WriteStep/finish(in:)``.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, and `LMDBError` if the commit fails.
  func withStep<Result>(
    _ context: @autoclosure () -> StepContext, _ extents: inout ExtentState?,
    _ body: (inout WriteStep, inout IndexTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    // The step outlives the transaction, because only the end of that decides which state is next.
    var step: WriteStep?
    do throws(LMDBError) {
      let result = try environment.withWrite { (transaction) throws(LMDBError) -> Result in
        var indexed = IndexTransaction(transaction, index: layout.index)
        do throws(LMDBError) {
          step = try WriteStep(file: self, context(), &extents, in: &indexed)
          let result = try body(&step!, &indexed)
          transaction = indexed.end()
          return result
        } catch {
          transaction = indexed.end()
          throw error
        }
      }
      if let step = step.take() { extents = step.committed() }
      return result
    } catch {
      if let step = step.take() { extents = step.aborted() }
      throw error
    }
  }
}
