/// The version of the program, which is also the library's.
enum ProgramVersion {
  /// A semantic version. Until the first release it is the one that comes next.
  static let number = "0.1.0-dev"
  static let text = "cistern \(number)"
}
