import Cistern

/// The settings of a server.
package struct ServerSettings: Sendable {
  /// The directory of the store.
  package var directory: String
  /// The address of the origin, without a slash at its end.
  package var origin: String
  package var port = 8080
  /// The clock of lifetimes.
  package var clock: any CacheClock = SystemClock()
  /// Called with the port when the server accepts requests.
  package var onRunning: @Sendable (_ port: Int) async -> Void = { _ in }

  package init(directory: String, origin: String) {
    self.directory = directory
    self.origin = origin
  }

  /// Creates the settings of a command line: the origin, and optionally the directory and the port.
  ///
  /// Returns nil if there are too few or too many arguments, or if the port is not a number from 0 to 65,535.
  package init?(arguments: [String]) {
    guard (1...3).contains(arguments.count) else { return nil }
    self.init(directory: arguments.count > 1 ? arguments[1] : "articles", origin: arguments[0])
    guard arguments.count > 2 else { return }
    guard let port = Int(arguments[2]), (0...65_535).contains(port) else { return nil }
    self.port = port
  }
}
