/// An error in a trace file, with its location.
struct TraceError: Error, Equatable, CustomStringConvertible {
  let path: String
  /// The number of the line, from 1, or nil if the error concerns the whole file.
  let line: Int?
  let message: String

  var description: String {
    line.map { "\(path):\($0): \(message)" } ?? "\(path): \(message)"
  }
}
