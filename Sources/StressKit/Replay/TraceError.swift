/// What is wrong with a trace file, and where.
struct TraceError: Error, Equatable, CustomStringConvertible {
  let path: String
  /// The line, from 1; nil where the file as a whole is meant.
  let line: Int?
  let message: String

  var description: String {
    line.map { "\(path):\($0): \(message)" } ?? "\(path): \(message)"
  }
}
