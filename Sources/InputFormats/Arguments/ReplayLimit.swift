import ArgumentParser
import CisternCore

/// The limit of a replayed memory tier: a size, or a fraction of the footprint of the trace.
package enum ReplayLimit: Sendable, Equatable {
  case absolute(Int)
  case share(Double)

  package init(argument: String) throws {
    if argument.hasSuffix("%") {
      let share = try shareArgument(argument)
      guard share > 0 else { throw ValidationError("'\(argument)' must be greater than zero.") }
      self = .share(share)
    } else {
      self = .absolute(try ByteCount.positive(argument).bytes)
    }
  }

  /// Returns the limit in cost for a trace with this footprint. A fraction gives at least 1.
  package func cost(footprint: Int) -> Int {
    switch self {
    case .absolute(let cost): cost
    case .share(let share): max(1, Int(Double(footprint) * share))
    }
  }
}
