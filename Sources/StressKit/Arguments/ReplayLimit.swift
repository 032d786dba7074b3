import ArgumentParser
import Cistern

/// How large a replayed memory tier is: a size, or a share of what the whole trace would take up.
enum ReplayLimit: Sendable, Equatable {
  case absolute(Int)
  case share(Double)

  init(argument: String) throws {
    if argument.hasSuffix("%") {
      let share = try shareArgument(argument)
      guard share > 0 else { throw ValidationError("'\(argument)' must be above zero.") }
      self = .share(share)
    } else {
      self = .absolute(try ByteCount.positive(argument).bytes)
    }
  }

  /// The limit in cost, for a trace of this footprint; never less than 1.
  func cost(footprint: Int) -> Int {
    switch self {
    case .absolute(let cost): cost
    case .share(let share): max(1, Int(Double(footprint) * share))
    }
  }
}
