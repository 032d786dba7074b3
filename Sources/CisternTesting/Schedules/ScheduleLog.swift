#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The log of the number of schedules that each exploration ran. An environment variable names its file.
enum ScheduleLog {
  static func add(_ file: StaticString, _ count: Int) {
    // The strings belong to the environment and to the program. Neither changes while the tests run.
    guard let path = unsafe getenv("CISTERN_SCHEDULE_LOG") else { return }
    let line = Array("\(file)\t\(count)\n".utf8)
    let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT, 0o644)
    guard descriptor >= 0 else { return }
    // One call writes the whole line, so lines of concurrent threads do not mix.
    _ = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
  }
}
