import ArgumentParser
import Cistern

/// The options for the store of a run.
struct StressStoreOptions: ParsableArguments {
  @Option(
    parsing: .unconditional, help: "The memory tier's limit: \(ByteCount.argumentForm). (default: 16MiB)",
    transform: ByteCount.positive)
  var memoryLimit = ByteCount.mebibytes(16)

  @Option(parsing: .unconditional, help: "The disk tier's limit. (default: 32MiB)", transform: ByteCount.positive)
  var diskLimit = ByteCount.mebibytes(32)

  @Option(help: "The directory of the store, which is kept. (default: a temporary directory, removed at the end)")
  var directory: String?

  @Option(help: "The eviction policy of the memory tier: \(PolicyArgument.names).")
  var policy = PolicyArgument(.leastHitDensity)

  @Option(
    parsing: .unconditional,
    help: "The time after which the store is closed and reopened; 0 for never. (default: the profile's)",
    transform: Duration.argument)
  var reopenEvery: Duration?
}
