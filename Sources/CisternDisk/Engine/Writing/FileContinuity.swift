/// The commits of a newly opened data file, compared with those of the file that was open before.
enum FileContinuity {
  /// The file has all commits of the former one.
  case hasAllCommits
  /// The file is another one or an older copy. The commit group in progress begins again.
  case lacksCommits
}
