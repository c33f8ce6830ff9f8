from setuptools import setup

setup(
    install_requires=[
        "torch>=2.9,<2.13",  #> 2.9.0..2.13.0
        "torchaudio>=2.9",
        "torch-scatter>=2.1",
    ],
    extras_require={"new": ["torch>=2.14.0.dev0"]},  #> 2.14.0.. live CF206
)
