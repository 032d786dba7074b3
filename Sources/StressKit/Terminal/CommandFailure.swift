import Cistern

/// An error that ends the program with a message and a status.
struct CommandFailure: Error, CustomStringConvertible {
  let message: String
  let status: ExitStatus

  init(_ message: String, status: ExitStatus) {
    self.message = message
    self.status = status
  }

  /// Creates the failure for an error of a file operation.
  ///
  /// The advice of a `CisternError` is left out: it is for a program that has the store open.
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
