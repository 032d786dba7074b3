/// The version of the program and the library.
enum ProgramVersion {
  /// The semantic version. Before the first release, it is the version of that release.
  static let number = "0.1.0-dev"
  static let text = "cistern \(number)"
}
