/// The error of a call that the breaker rejected. Callers of the library get ``error(location:)`` instead.
struct CircuitRejection: Error {
  /// The time until the next permitted call, in nanoseconds.
  let delay: UInt64
  private let isProbing: Bool
  /// The nanoseconds for which a key pauses after the rejection. Zero while a probe is in progress: its success permits
  /// calls at once, and another rejection costs little.
  var pause: UInt64 { isProbing ? 0 : delay }

  init(_ rejection: CircuitState.Rejection, at now: MonotonicTime) {
    delay = rejection.end.nanoseconds - min(now.nanoseconds, rejection.end.nanoseconds)
    isProbing = rejection.isProbing
  }

  /// Returns whether an error tells that a breaker rejected a call, in this cache or another.
  static func isCause(of error: any Error) -> Bool {
    error is CircuitRejection || (error as? CisternError)?.code == .circuitOpen
  }

  func error(location: String) -> CisternError {
    let delay = Duration.nanoseconds(Int64(clamping: delay))
    let time = isProbing ? "when a probe ends, at the latest in \(delay)" : "in \(delay)"
    return CisternError(
      .circuitOpen, "the circuit breaker is open because the origin failed; the next attempt is permitted \(time)",
      location: location)
  }
}
