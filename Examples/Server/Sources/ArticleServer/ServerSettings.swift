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
}
