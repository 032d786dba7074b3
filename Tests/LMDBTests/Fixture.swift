import LMDB
import TestDirectories

/// An environment in a temporary directory. The deinitializer closes it.
final class Fixture {
  let directory: TemporaryDirectory
  let environment: Environment

  init(mapSize: Int = 1 << 26, durability: EnvironmentOptions.Durability = .noSync) throws {
    directory = TemporaryDirectory()
    environment = try Environment.open(
      directory: directory.path, options: EnvironmentOptions(mapSize: mapSize, durability: durability))
  }

  deinit {
    do { try environment.close() } catch { print("a test left a transaction open: \(error)") }
  }
}
