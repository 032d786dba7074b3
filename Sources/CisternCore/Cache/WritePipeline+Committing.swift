// Waiting for the disk, and the errors of writes that it refuses.

extension WritePipeline {
  /// Returns when a write is on disk.
  ///
  /// - Throws: `CisternError` if the value could not be encoded, and if the tier refused the write or failed.
  @usableFromInline
  nonisolated(nonsending) func waitForCommit(_ written: AppliedWrite<Value>, of key: Key) async throws(CisternError) {
    if let error = written.encodingError {
      throw CisternError(
        .notEncodable, "the value \(encodingFailure)",
        location: reports.location(of: key), cause: error)
    }
    try await waitForCommit(written.outcome, location: reports.location(of: key))
  }

  /// Returns when a write with this outcome is on disk.
  @usableFromInline
  nonisolated(nonsending) func waitForCommit(
    _ outcome: WriteOutcome, location: @autoclosure () -> String
  ) async throws(CisternError) {
    switch outcome {
    case .nothing, .recordLost: break
    case .staged(let ticket): try await secondTier?.partition.waitForCommit(ticket)
    case .refused(let excess): throw refusal(excess, location: location())
    }
  }

  /// Returns the reason why the second tier refuses a write.
  ///
  /// - Parameters:
  ///   - excess: The reason why the tier can never hold the write, if the tier is active; nil for none.
  ///   - location: The key or the cache.
  /// - Returns: The error for a caller that waits for the commit.
  func refusal(_ excess: WriteExcess?, location: String) -> CisternError {
    let mode = secondTier?.partition.mode
    if let excess, mode == .active {
      let effect =
        usesMemory ? "it is in memory only, if that can hold it" : "it is lost, because memory does not hold it"
      return CisternError(.tooLarge, "\(excess.problem); \(effect)", location: location, remedy: excess.remedy)
    }
    let effect =
      usesMemory ? "what is written is in memory only" : "what is written is lost, because memory does not hold it"
    return refusal(in: mode, effect: effect, location: location)
  }

  /// Returns the error of a write that a tier in this mode refuses.
  func refusal(in mode: SecondTierStatistics.Mode?, effect: String, location: String) -> CisternError {
    switch mode {
    case .closed?: .storeClosed(location, effect: effect)
    case .readOnly?: CisternError(.readOnly, "the store is read-only; \(effect)", location: location)
    case .active?, .degraded?, nil:
      CisternError(
        .diskFailed, "the second tier takes no writes at present; \(effect)", location: location,
        remedy: "See the store's reports for the cause, and write the value again when the tier works")
    }
  }

  /// Reports a refused write if the tier will refuse it the next time, too, because of its size.
  ///
  /// Also reports a write that is lost, because the store is closed or read-only and memory does not hold the values.
  @usableFromInline
  @inline(never)
  func reportRefusal(_ excess: WriteExcess?, of key: Key) {
    reportRefusal(excess, location: reports.location(of: key))
  }

  /// Reports a refused write, as ``reportRefusal(_:of:)`` does. The location is a key or, for a batch, the cache.
  @usableFromInline
  func reportRefusal(_ excess: WriteExcess?, location: String) {
    let refusal = refusal(excess, location: location)
    let isLost = !usesMemory && (refusal.code == .storeClosed || refusal.code == .readOnly)
    guard refusal.code == .tooLarge || isLost else { return }
    let remedy = refusal.remedy.map { ". \($0)" } ?? ""
    reports.send(StoreReport(.refused, "\(refusal.message)\(remedy)", location: refusal.location))
  }
}
