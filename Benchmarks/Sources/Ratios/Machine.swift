#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The machine of the measurement.
enum Machine {
  static var description: String {
    var name = utsname()
    uname(&name)
    let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    var load = [0.0, 0.0, 0.0]
    getloadavg(&load, 3)
    return "\(cores) cores, \(text(&name.sysname)) \(text(&name.machine)), load \(decimal(load[0])) at the start"
  }

  private static func text<Characters>(_ characters: inout Characters) -> String {
    withUnsafeBytes(of: &characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
