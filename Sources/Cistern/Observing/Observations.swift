import Locking

/// A bag of observations that end together: when it is cancelled, or goes.
///
///     final class Screen {
///       private let observations = Observations()
///       func appear() {
///         articles.observe(.all) { [weak self] change in … }.store(in: observations)
///       }
///     }
public final class Observations: Sendable {
  /// An array holds only what can be copied: references, here.
  private final class Kept: Sendable {
    let token: ObservationToken

    init(_ token: consuming ObservationToken) {
      self.token = token
    }
  }

  private let observations = Guarded<[Kept]>([])

  /// Creates a bag with nothing in it.
  public init() {}

  /// Ends every observation that was stored so far. Later ones can be stored.
  public func cancelAll() {
    let observations = observations.withLock { observations in
      defer { observations = [] }
      return observations
    }
    for observation in observations { observation.token.cancel() }
  }

  func insert(_ token: consuming ObservationToken) {
    let observation = Kept(token)
    observations.withLock { $0.append(observation) }
  }
}
