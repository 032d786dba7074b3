/// An error in a trace file, with its location.
package struct TraceError: Error, Equatable, CustomStringConvertible {
  package let path: String
  /// The number of the line, from 1, or nil if the error concerns the whole file.
  package let line: Int?
  package let message: String

  package init(path: String, line: Int?, message: String) {
    self.path = path
    self.line = line
    self.message = message
  }

  package var description: String {
    line.map { "\(path):\($0): \(message)" } ?? "\(path): \(message)"
  }
}
