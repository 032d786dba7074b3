/// What tells one value of a key from every other value of it.
enum Version: Hashable, Sendable, CustomStringConvertible {
  /// A client wrote it, or removed what was there.
  case written(UInt64)
  /// The origin gave it.
  case fetched(UInt64)
  /// It was on disk before the run began.
  case foreign(run: UInt64, number: UInt64)

  var description: String {
    switch self {
    case .written(let number): "w\(number)"
    case .fetched(let number): "f\(number)"
    case .foreign(let run, let number): "\(number) of run \(String(run, radix: 16))"
    }
  }
}
