import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A directory for one test. Its deinitializer removes it with its content.
final class TemporaryDirectory {
  let path: String

  init() {
    var template = Array("/tmp/cistern-lmdb-XXXXXX".utf8CString)
    path = unsafe template.withUnsafeMutableBufferPointer { unsafe String(cString: mkdtemp($0.baseAddress!)) }
  }

  deinit {
    Self.remove(path)
  }

  private static func remove(_ path: String) {
    // `unlink` removes a file or link. A directory must be emptied first.
    if unsafe unlink(path) == 0 { return }
    for name in names(in: path) { remove("\(path)/\(name)") }
    unsafe rmdir(path)
  }

  static func names(in directory: String) -> [String] {
    guard let listing = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(listing) }
    var names: [String] = []
    while let entry = unsafe readdir(listing) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

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
