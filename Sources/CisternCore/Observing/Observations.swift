import Locking

/// A collection of observations that end together, when it is cancelled or deinitialized.
///
///     final class Screen {
///       private let observations = Observations()
///       func appear() {
///         articles.observe(.all) { [weak self] change in … }.store(in: observations)
///       }
///     }
public final class Observations: Sendable {
  /// A box for a token, because arrays cannot contain noncopyable values.
  private final class TokenBox: Sendable {
    let token: ObservationToken

    init(_ token: consuming ObservationToken) {
      self.token = token
    }
  }

  private let observations = Guarded<[TokenBox]>([])

  /// Creates an empty collection.
  public init() {}

  /// Ends all observations in the collection. The collection remains usable.
  public func cancelAll() {
    let observations = observations.withLock { observations in
      defer { observations = [] }
      return observations
    }
    for observation in observations { observation.token.cancel() }
  }

  func insert(_ token: consuming ObservationToken) {
    let observation = TokenBox(token)
    observations.withLock { $0.append(observation) }
  }
}
