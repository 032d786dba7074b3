import Cistern
import CisternCore

/// The initializers of a store without a configuration, for tests: the store ignores memory pressure.
///
/// A busy machine would otherwise evict values that a test expects in memory. The compiler prefers these functions,
/// because they have no default arguments.
extension Store {
  package convenience init(secondTier: (any SecondTier)?, memoryLimit: ByteCount) throws(CisternError) {
    try self.init(secondTier: secondTier, memoryLimit: memoryLimit, configuration: .ignoringMemoryPressure)
  }

  package static func inMemory(memoryLimit: ByteCount) throws(CisternError) -> Store {
    try inMemory(memoryLimit: memoryLimit, configuration: .ignoringMemoryPressure)
  }

  package convenience init(directory: String, memoryLimit: ByteCount, diskLimit: ByteCount) throws(CisternError) {
    try self.init(
      directory: directory, memoryLimit: memoryLimit, diskLimit: diskLimit, configuration: .ignoringMemoryPressure)
  }
}
