import CisternCore

extension Store.Configuration {
  /// The default configuration, except that the store ignores memory pressure. A busy machine would otherwise evict
  /// values that a test expects in memory.
  package static var ignoringMemoryPressure: Store.Configuration {
    var configuration = Store.Configuration()
    configuration.respondsToMemoryPressure = false
    return configuration
  }

  /// The same configuration with a test's clock and executor.
  package static func ignoringMemoryPressure(
    clock: any CacheClock, taskExecutor: (any TaskExecutor)? = nil
  ) -> Store.Configuration {
    var configuration: Store.Configuration = ignoringMemoryPressure
    configuration.clock = clock
    configuration.taskExecutor = taskExecutor
    return configuration
  }
}
