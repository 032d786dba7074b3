import CisternCore

extension Store.Configuration {
  /// The default configuration, except that the store ignores memory pressure. A busy machine would otherwise evict
  /// values that a test expects in memory.
  package static var ignoringMemoryPressure: Store.Configuration {
    var configuration = Store.Configuration()
    configuration.respondsToMemoryPressure = false
    return configuration
  }
}
