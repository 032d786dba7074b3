#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where explorations say how many schedules they ran, if the environment names a file.
enum ScheduleLog {
  static func add(_ file: StaticString, _ count: Int) {
    // The strings are the environment's and the program's own; neither changes while the tests run.
    guard let path = unsafe getenv("CISTERN_SCHEDULE_LOG") else { return }
    let line = Array("\(file)\t\(count)\n".utf8)
    let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT, 0o644)
    guard descriptor >= 0 else { return }
    // One call a line: other threads' lines stand before it or after it.
    _ = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
  }
}
