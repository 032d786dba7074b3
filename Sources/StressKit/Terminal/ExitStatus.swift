/// The exit code of the program.
package enum ExitStatus: Int32, Sendable {
  /// The command succeeded, and found nothing wrong.
  case success = 0
  /// The command found a negative result: a violation, an absent key, or a damaged record.
  case negative = 1
  /// The command could not run because of its arguments, or because of a file, a directory, or a server.
  case badInput = 2

  /// The paragraph of the help texts that explains the exit codes.
  static let explanation = """
    Exit codes: 0 for success; 1 for a negative result (a violation, an absent key, a damaged record); 2 for wrong \
    arguments, or a file, directory or server that cannot be used.
    """
}
