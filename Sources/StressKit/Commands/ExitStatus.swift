import Cistern

/// What the program's exit code says.
package enum ExitStatus: Int32, Sendable {
  /// All went well, and nothing was found wrong.
  case success = 0
  /// The answer is no: a violation, a key that is not there, a damaged record.
  case negative = 1
  /// The request could not be understood or carried out: arguments, files, directories.
  case badInput = 2

  /// The paragraph of the help that explains the codes.
  static let explanation = """
    Exit codes: 0 all is well; 1 the answer is no (a violation, an absent key, a damaged record); 2 the arguments are \
    wrong, or a file, directory or server cannot be used.
    """
}

/// Ends the program with a message and a status.
struct CommandFailure: Error, CustomStringConvertible {
  let message: String
  let status: ExitStatus

  init(_ message: String, status: ExitStatus) {
    self.message = message
    self.status = status
  }

  /// The failure of an operation on files. The advice of a `CisternError` is for a program with the store open, and is
  /// left out.
  init(_ error: any Error) {
    guard let error = error as? CisternError else {
      self.init("\(error)", status: .badInput)
      return
    }
    let head = "\(error.message) (\(error.location))"
    self.init(error.cause.map { "\(head): \($0)" } ?? head, status: .badInput)
  }

  var description: String { message }
}
