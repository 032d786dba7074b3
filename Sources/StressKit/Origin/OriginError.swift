/// The reason why an origin did not return a value.
enum OriginError: Error, CustomStringConvertible {
  /// The status of the response is not 200.
  case status(Int)
  /// The response is not a value of this key.
  case garbled(String)

  var description: String {
    switch self {
    case .status(let status): "the origin answered with status \(status)"
    case .garbled(let name): "the origin's answer for \(name) is not a value of this key"
    }
  }
}
