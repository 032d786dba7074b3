/// The identity of a value among all values of its key.
enum Version: Hashable, Sendable, CustomStringConvertible {
  /// The number of a client's write or removal.
  case written(UInt64)
  /// The number of a value from the origin.
  case fetched(UInt64)
  /// A value that was on disk before the run began.
  case foreign(run: UInt64, number: UInt64)

  var description: String {
    switch self {
    case .written(let number): "w\(number)"
    case .fetched(let number): "f\(number)"
    case .foreign(let run, let number): "\(number) of run \(String(run, radix: 16))"
    }
  }
}
