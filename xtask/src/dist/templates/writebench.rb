class Writebench < Formula
  desc "@description@"
  homepage "@repository@"
  version "@version@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on :linux

  on_intel do
    url "@repository@/releases/download/v@version@/writebench-@version@-x86_64-unknown-linux-musl.tar.gz"
    sha256 "@sum_x86_64@"
  end

  on_arm do
    url "@repository@/releases/download/v@version@/writebench-@version@-aarch64-unknown-linux-musl.tar.gz"
    sha256 "@sum_aarch64@"
  end

  def install
    bin.install "writebench"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/writebench.bash" => "writebench"
    zsh_completion.install "completions/_writebench"
    fish_completion.install "completions/writebench.fish"
    doc.install Dir["*.md"]
  end

  test do
    system bin/"writebench", "--db", testpath/"db", "run", testpath, "--case", "write,size=64KiB", "--samples", "1"
  end
end
